// The queue, the evictions, and how many gangs are in which state.

import { age, element, full, put } from "./format.js";
import { STATES, colour, drawState, fitted } from "./paint.js";

const MOST = 100;
const CHIP = { width: 18, height: 12 };

export class Panels {
  states = new Set();
  #queue = document.getElementById("queue");
  #evictions = document.getElementById("evictions");
  #chips = new Map();
  #lines = [];
  #last = undefined;

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

  // Only what is new is added; the lines that are there stay.
  drawEvictions() {
    const { evictions } = this.model;
    put(document.getElementById("evictions-count"), evictions.length ? "the last one first" : "nobody had to leave");
    const at = evictions.indexOf(this.#last);
    const news = at < 0 ? evictions : evictions.slice(0, at);
    if (at < 0) this.#evictions.replaceChildren();
    for (const line of this.#evictions.querySelectorAll(".new")) line.classList.remove("new");
    this.#evictions.prepend(...news.map((each) => this.#eviction(each)));
    while (this.#evictions.childElementCount > evictions.length) this.#evictions.lastElementChild.remove();
    this.#last = evictions[0];
  }

  #eviction(each) {
    const who = each.gang ? `${each.ns}/${each.gang}` : `${each.ns}/${each.pod}`;
    const where = [each.gang ? `pod ${each.pod}` : "", each.node ? `left ${each.node}` : "left"].filter(Boolean).join(" ");
    const time = new Date(each.at).toLocaleTimeString([], { hour12: false });
    const line = element(
      "li",
      { className: each.isNew ? "new" : "" },
      element("span", { className: "when", textContent: time }),
      element("span", { textContent: `${who} for ${each.for || "somebody more important"}`, title: who }),
      element("span"),
      element("span", { className: "said", textContent: where }),
    );
    return line;
  }
}
