// The queue, the evictions, and how many gangs are in which state.

import { age, element, full, put } from "./format.js";
import { STATES, colour, drawState, fitted } from "./paint.js";

const MOST = 100;
const TOGETHER_MS = 5000;
const CHIP = { width: 18, height: 12 };

export class Panels {
  states = new Set();
  #queue = document.getElementById("queue");
  #evictions = document.getElementById("evictions");
  #chips = new Map();
  #lines = [];
  #last = undefined;
  #top = undefined;

  constructor(model, { onOpen, onFilter }) {
    this.model = model;
    for (const state of STATES) this.#chips.set(state, this.#chip(state, onFilter));
    document.getElementById("chips").append(...[...this.#chips.values()].map((chip) => chip.button));
    this.#queue.addEventListener("click", (event) => {
      const line = event.target.closest("button");
      if (line) onOpen(line.dataset.uid);
    });
  }

  #chip(state, onFilter) {
    const [canvas, count] = [element("canvas"), element("b")];
    const button = element("button", { type: "button", hidden: true }, canvas, state, count);
    button.setAttribute("aria-pressed", "false");
    button.addEventListener("click", () => {
      const isOn = !this.states.delete(state);
      if (isOn) this.states.add(state);
      button.setAttribute("aria-pressed", String(isOn));
      onFilter();
    });
    return { button, canvas, count };
  }

  drawChips() {
    const counts = this.model.counts();
    for (const [state, chip] of this.#chips) {
      const isHidden = !counts[state] && !this.states.has(state);
      if (chip.button.hidden !== isHidden) chip.button.hidden = isHidden;
      put(chip.count, String(counts[state] ?? 0));
      if (chip.drawn === colour(state)) continue;
      chip.drawn = colour(state);
      drawState(fitted(chip.canvas, CHIP).context, state, 0, 0, CHIP.width, CHIP.height);
    }
  }

  drawQueue() {
    const waiting = this.model.queue();
    const now = this.model.now();
    put(document.getElementById("queue-count"), waiting.length ? `${waiting.length} waiting, the next one first` : "nobody waits");
    const shown = waiting.slice(0, MOST);
    while (this.#lines.length < shown.length) this.#lines.push(this.#line());
    this.#lines.forEach((line, index) => this.#fillLine(line, shown[index], index, now));
  }

  #line() {
    const parts = {
      number: element("span", { className: "number" }),
      button: element("button", { type: "button" }),
      when: element("span", { className: "when" }),
      said: element("span", { className: "said" }),
    };
    const box = element("li", {}, parts.number, parts.button, parts.when, parts.said);
    this.#queue.append(box);
    return { box, ...parts };
  }

  #fillLine(line, gang, index, now) {
    line.box.hidden = !gang;
    if (!gang) return;
    line.button.dataset.uid = gang.uid;
    put(line.number, `${index + 1}`);
    put(line.button, full(gang));
    put(line.when, `${gang.priority ? `priority ${gang.priority}, ` : ""}${age(now - gang.since)}`);
    put(line.said, gang.message ? `${gang.reason}: ${gang.message}` : gang.reason || "not tried yet");
    line.said.title = line.said.textContent;
  }

  // Only what is new is added. Pods of one gang that leave together for the same are one line.
  drawEvictions() {
    const { evictions } = this.model;
    put(document.getElementById("evictions-count"), evictions.length ? "the last one first" : "nobody had to leave");
    const at = evictions.indexOf(this.#last);
    if (at < 0) {
      this.#evictions.replaceChildren();
      this.#top = undefined;
    }
    for (const line of this.#evictions.querySelectorAll(".new")) line.classList.remove("new");
    for (const each of evictions.slice(0, at < 0 ? undefined : at).reverse()) this.#evicted(each);
    while (this.#evictions.childElementCount > MOST) this.#evictions.lastElementChild.remove();
    this.#last = evictions[0];
  }

  #evicted(each) {
    const who = each.gang ? `${each.ns}/${each.gang}` : `${each.ns}/pod/${each.pod}`;
    const of = `${who} ${each.for}`;
    if (this.#top?.of !== of || each.at - this.#top.at > TOGETHER_MS) {
      this.#top = { of, at: each.at, pods: [], nodes: new Set(), ...this.#entry(each, who) };
      this.#evictions.prepend(this.#top.line);
    }
    const top = this.#top;
    top.pods.push(each.pod);
    if (each.node) top.nodes.add(each.node);
    const from = top.nodes.size > 3 ? `${top.nodes.size} nodes` : [...top.nodes].join(", ");
    put(top.said, `${top.pods.length === 1 ? `pod ${each.pod}` : `${top.pods.length} pods`}${from ? ` left ${from}` : " left"}`);
    top.line.classList.toggle("new", Boolean(each.isNew));
  }

  #entry(each, who) {
    const time = new Date(each.at).toLocaleTimeString([], { hour12: false });
    const said = element("span", { className: "said" });
    const text = `${who} for ${each.for || "somebody more important"}`;
    const line = element(
      "li",
      {},
      element("span", { className: "when", textContent: time }),
      element("span", { textContent: text, title: text }),
      element("span"),
      said,
    );
    return { line, said };
  }
}
