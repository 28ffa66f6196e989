// One gang in detail: what it says of itself, its pods, and why it waits where somebody can tell.

import { age, element, full, put, started } from "./format.js";

export class Details {
  #box = document.getElementById("details");
  #title = document.getElementById("details-title");
  #body = document.getElementById("details-body");
  #uid = "";
  #asked = 0;
  #shownState = "";

  constructor(model, { onClose }) {
    this.model = model;
    this.onClose = onClose;
    document.getElementById("close").addEventListener("click", () => this.close());
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.isOpen) this.close();
    });
  }

  get isOpen() {
    return !this.#box.hidden;
  }

  async open(uid) {
    const gang = this.model.gangs.get(uid);
    if (!gang) return;
    this.#uid = uid;
    this.#box.hidden = false;
    put(this.#title, full(gang));
    this.#title.focus();
    await this.#load(gang);
  }

  close() {
    this.#box.hidden = true;
    this.#uid = "";
    this.onClose();
  }

  // The gang does something else now, or its pods do.
  async refresh() {
    const gang = this.model.gangs.get(this.#uid);
    if (!this.isOpen || !gang || this.#shownState === stateOf(gang)) return;
    await this.#load(gang);
  }

  async #load(gang) {
    this.#shownState = stateOf(gang);
    const asked = (this.#asked += 1);
    // The server knows a recording's end only, and another moment may be shown.
    const said = this.model.isPlayed ? undefined : await answer(`gangs/${encodeURIComponent(gang.uid)}`);
    if (asked !== this.#asked || this.#uid !== gang.uid) return;
    const parts = [this.#facts(gang, said)];
    const why = said?.explains && gang.state !== "running" && gang.state !== "done" ? element("pre", { textContent: "asking ..." }) : undefined;
    if (why) parts.push(element("div", {}, element("h3", { textContent: "Why" }), why));
    if (said?.levels.length) parts.push(this.#levels(said));
    if (said) parts.push(this.#conditions(said), this.#pods(said));
    this.#body.replaceChildren(...parts);
    if (!why) return;
    const told = await answer(`gangs/${encodeURIComponent(gang.uid)}/why`);
    put(why, told?.text ?? "no answer");
  }

  #facts(gang, said) {
    const now = this.model.now();
    const facts = [
      ["state", gang.state + (gang.by ? `, for ${gang.by}` : "")],
      ["why", [gang.reason, gang.message].filter(Boolean).join(": ")],
      ["waits since", gang.since ? age(now - gang.since) : ""],
      ["pods", `${started(gang)} of at least ${gang.need} have a node or are done, ${gang.pods[2]} run, ${gang.pods[0]} pending, ${gang.pods[4]} failed`],
      ["priority", String(gang.priority)],
      ["PodGroup", gang.group],
      ["tree", gang.tree ? `compositepodgroup/${gang.tree}` : ""],
      ["topology", said?.topology ?? ""],
      ["leaves", said ? (said.whole ? "as a whole or not at all" : "pod by pod") : ""],
      ["age", age(now - gang.created)],
    ];
    const shown = facts.filter(([, value]) => value).flatMap(([name, value]) => [element("dt", { textContent: name }), element("dd", { textContent: value })]);
    return element("dl", {}, ...shown);
  }

  // The groups of groups above it, the root first.
  #levels(said) {
    const now = this.model.now();
    const rows = said.levels.map((level) => [level.name, level.state, level.since ? age(now - level.since) : "", level.said, level.message]);
    return element("div", {}, element("h3", { textContent: "Starts together with" }), table(["CompositePodGroup", "state", "for", "groups", "message"], rows));
  }

  #conditions(said) {
    const now = this.model.now();
    const rows = said.conditions.map((each) => [`${each.type} = ${each.status}`, each.reason, each.at ? age(now - each.at) : "", each.message]);
    return element("div", {}, element("h3", { textContent: "Conditions" }), table(["condition", "reason", "for", "message"], rows));
  }

  #pods(said) {
    const rows = said.pods.map((pod) => [pod.name, pod.leaves ? `${pod.phase}, leaves` : pod.phase, pod.node || (pod.nominated ? `${pod.nominated} is kept` : "-"), pod.reason]);
    const title = `Pods${said.more ? ` (and ${said.more} more)` : ""}`;
    return element("div", {}, element("h3", { textContent: title }), table(["pod", "phase", "node", "reason"], rows));
  }
}

const stateOf = (gang) => `${gang.state} ${gang.pods.join(" ")} ${gang.reason}`;

const table = (heads, rows) => {
  const line = (tag, cells) => element("tr", {}, ...cells.map((text) => element(tag, { textContent: text })));
  return element("table", {}, element("thead", {}, line("th", heads)), element("tbody", {}, ...rows.map((cells) => line("td", cells))));
};

const answer = async (path) => {
  try {
    const response = await fetch(path);
    return response.ok ? await response.json() : undefined;
  } catch {
    return undefined;
  }
};
