// The list of gangs: as many rows as fit are elements, however many gangs there are, and their strips are one canvas.

import { element, full, put, round, started } from "./format.js";
import { LEAST, colour, drawState, fitted, onSize, sizeOf } from "./paint.js";

const ROW = 26;
const PAD = 7;
// Into so many the time above the strips is divided, if that makes whole minutes.
const PARTS = [5, 6, 4];

export class GangList {
  #box = document.getElementById("gangs");
  #all = document.getElementById("gangs-all");
  #shown = document.getElementById("gangs-shown");
  #rows = document.getElementById("rows");
  #strips = document.getElementById("strips");
  #ticks = document.getElementById("ticks");
  #none = document.getElementById("gangs-none");
  #pool = [];
  #top = 0;
  #ticksOf = "";
  listed = [];
  chosen = "";

  constructor(model, { onChoose, onOpen, redraw }) {
    this.model = model;
    this.onChoose = onChoose;
    const scrolled = () => {
      this.#top = this.#box.scrollTop;
      redraw();
    };
    this.#box.addEventListener("scroll", scrolled, { passive: true });
    this.#box.addEventListener("keydown", (event) => this.#key(event, onOpen));
    this.#rows.addEventListener("click", (event) => {
      const row = event.target.closest(".row");
      if (!row) return;
      this.choose(row.dataset.uid);
      onOpen(row.dataset.uid);
    });
    onSize(this.#box, redraw);
    onSize(this.#ticks, () => this.#lineUp(redraw));
  }

  relist(states, words) {
    this.listed = this.model.listed(states, words);
    const height = `${this.listed.length * ROW}px`;
    if (this.#all.style.height !== height) this.#all.style.height = height;
    const isEmpty = this.model.hasBegun && !this.listed.length;
    this.#none.hidden = !isEmpty;
    if (isEmpty) put(this.#none, this.model.gangs.size ? "No gang is like that." : "There are no gangs yet.");
    put(document.getElementById("gangs-count"), `${this.listed.length} of ${this.model.gangs.size}`);
  }

  choose(uid, isToBeSeen = false) {
    this.chosen = uid;
    const index = this.listed.findIndex((gang) => gang.uid === uid);
    if (isToBeSeen && index >= 0) this.#reveal(index);
    this.onChoose(uid);
  }

  focus() {
    this.#box.focus({ preventScroll: true });
  }

  draw(spanMs) {
    const height = Math.max(0, Math.min(sizeOf(this.#box).height, this.listed.length * ROW));
    const top = Math.max(0, Math.min(this.#top, this.listed.length * ROW - height));
    const first = Math.floor(top / ROW);
    const shift = top - first * ROW;
    const count = Math.min(this.listed.length - first, Math.ceil((height + shift) / ROW));
    if (this.#shown.style.height !== `${height}px`) this.#shown.style.height = `${height}px`;
    this.#rows.style.transform = `translateY(${-shift}px)`;
    this.#fill(first, count);
    this.#drawStrips(first, count, shift, height, spanMs);
  }

  #fill(first, count) {
    while (this.#pool.length < count) this.#pool.push(this.#made());
    this.#pool.forEach((row, index) => {
      const gang = index < count ? this.listed[first + index] : undefined;
      row.box.hidden = !gang;
      if (gang) this.#fillRow(row, gang, first + index);
    });
    const active = this.#pool.find((row) => !row.box.hidden && row.box.dataset.uid === this.chosen);
    if (active) this.#box.setAttribute("aria-activedescendant", active.box.id);
    else this.#box.removeAttribute("aria-activedescendant");
  }

  #made() {
    const [space, title, mark, state, pods] = [element("small"), element("span"), element("i"), element("span"), element("span", { className: "pods" })];
    const [name, what] = [element("span", { className: "name" }, space, title), element("span", {}, mark, state)];
    const box = element("div", { className: "row", id: `row-${this.#pool.length}`, role: "option" }, name, what, pods, element("span"));
    this.#rows.append(box);
    return { box, space, title, mark, state, pods };
  }

  #fillRow(row, gang, index) {
    const { box } = row;
    if (box.dataset.uid !== gang.uid) box.dataset.uid = gang.uid;
    const isChosen = String(gang.uid === this.chosen);
    if (box.getAttribute("aria-selected") !== isChosen) box.setAttribute("aria-selected", isChosen);
    box.setAttribute("aria-posinset", index + 1);
    box.setAttribute("aria-setsize", this.listed.length);
    put(row.space, this.model.about.namespace ? "" : `${gang.ns}/`);
    put(row.title, gang.name);
    put(row.state, gang.state);
    if (row.mark.dataset.state !== gang.state) row.mark.dataset.state = gang.state;
    put(row.pods, `${started(gang)}/${gang.need}`);
    const why = [gang.reason, gang.message].filter(Boolean).join(": ");
    const title = `${full(gang)}, ${gang.state}${why ? `, ${why}` : ""}${gang.by ? `, leaves for ${gang.by}` : ""}`;
    if (box.title !== title) box.title = title;
  }

  #drawStrips(first, count, shift, height, spanMs) {
    this.#drawTicks(spanMs);
    const { width: wide } = sizeOf(this.#ticks);
    const [widthPx, heightPx] = [`${wide}px`, `${height}px`];
    if (this.#strips.style.width !== widthPx) this.#strips.style.width = widthPx;
    if (this.#strips.style.height !== heightPx) this.#strips.style.height = heightPx;
    const drawing = fitted(this.#strips, { width: wide, height });
    if (!drawing) return;
    const { context, width } = drawing;
    const now = this.model.now();
    for (let index = 0; index < count; index += 1) {
      this.#drawStrip(context, this.listed[first + index], index * ROW - shift, width, now, spanMs);
    }
  }

  #drawStrip(context, gang, y, width, now, spanMs) {
    const at = (time) => Math.min(width, Math.max(0, width - ((now - time) / spanMs) * width));
    // What is short and matters is drawn after what is long.
    const parts = gang.history.map(([time, state], index) => [time, state, index]).sort((one, other) => (LEAST[one[1]] ?? 1) - (LEAST[other[1]] ?? 1));
    parts.forEach(([time, state, index]) => {
      const [from, to] = [at(time), at(gang.history[index + 1]?.[0] ?? now)];
      if (to > 0 && from < width) drawState(context, state, from, y + PAD, Math.max(LEAST[state] ?? 1, to - from), ROW - 2 * PAD);
    });
  }

  // The strips stand below their time.
  #lineUp(redraw) {
    const left = this.#ticks.getBoundingClientRect().left - this.#shown.getBoundingClientRect().left;
    this.#strips.style.left = `${left}px`;
    redraw();
  }

  #drawTicks(spanMs) {
    const key = `${spanMs} ${sizeOf(this.#ticks).width} ${colour("quiet")}`;
    if (key === this.#ticksOf) return;
    this.#ticksOf = key;
    const drawing = fitted(this.#ticks);
    if (!drawing) return;
    const { context, width, height } = drawing;
    context.fillStyle = colour("quiet");
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    const parts = width > 220 ? PARTS.find((count) => spanMs % (count * 60_000) === 0) ?? 4 : 1;
    for (let part = 0; part <= parts; part += 1) {
      context.textAlign = part === parts ? "left" : part === 0 ? "right" : "center";
      context.fillText(part ? `-${round((spanMs * part) / parts)}` : "now", width * (1 - part / parts), height / 2);
    }
  }

  #key(event, onOpen) {
    const page = Math.max(1, Math.floor(sizeOf(this.#box).height / ROW) - 1);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (event.key === "Enter" && this.chosen) onOpen(this.chosen);
    else if (event.key in steps && this.listed.length) this.#move(steps[event.key]);
    else return;
    event.preventDefault();
  }

  #move(step) {
    const at = this.listed.findIndex((gang) => gang.uid === this.chosen);
    const to = at < 0 && Number.isFinite(step) ? 0 : at + step;
    this.choose(this.listed[Math.max(0, Math.min(this.listed.length - 1, to))].uid, true);
  }

  #reveal(index) {
    const [top, { height }] = [index * ROW, sizeOf(this.#box)];
    if (top < this.#box.scrollTop) this.#box.scrollTop = top;
    else if (top + ROW > this.#box.scrollTop + height) this.#box.scrollTop = top + ROW - height;
  }
}
