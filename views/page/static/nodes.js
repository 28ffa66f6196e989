// The map of nodes: a cell each, coloured by use or by gang. One canvas, in which the cells that have changed are drawn anew.

import { amount, element, put } from "./format.js";
import { colour, fitted, gangColour, onSize, sizeOf, useColour } from "./paint.js";

const BY_GANG = "gangs";
const BY_NAME = new Intl.Collator("en", { numeric: true });

export class NodeMap {
  #canvas = document.getElementById("map");
  #text = document.getElementById("map-text");
  #paint = document.getElementById("paint");
  #scale = document.getElementById("scale");
  #names = [];
  #rows = [];
  #drawn = [];
  #look = "";
  #grid = { columns: 1, wide: 1, high: 1, gap: 0 };
  #context = undefined;
  #framed = -1;
  #at = -1;
  #isPointed = false;
  #offered = "";

  constructor(model, { onOpen, redraw }) {
    this.model = model;
    this.redraw = redraw;
    this.#paint.addEventListener("change", redraw);
    this.#canvas.addEventListener("mousemove", (event) => this.#point(event));
    this.#canvas.addEventListener("mouseleave", () => this.#leave());
    this.#canvas.addEventListener("click", () => this.#open(onOpen));
    this.#canvas.addEventListener("keydown", (event) => this.#key(event, onOpen));
    this.#canvas.addEventListener("blur", () => this.#leave());
    onSize(this.#canvas, redraw);
  }

  // The nodes have other names or resources, or come in another number.
  relist() {
    const wanted = this.model.resources.join(" ");
    if (this.#offered !== wanted) {
      const before = this.#paint.value;
      const options = [BY_GANG, ...this.model.resources].map((name) => element("option", { value: name, textContent: name === BY_GANG ? "gang" : `use of ${name}` }));
      this.#paint.replaceChildren(...options);
      this.#paint.value = [...options].some((each) => each.value === before) ? before : (this.model.resources[0] ?? BY_GANG);
      this.#offered = wanted;
    }
    if (this.#names.length !== this.model.nodes.size || !this.#names.every((name) => this.model.nodes.has(name))) {
      this.#names = [...this.model.nodes.keys()].sort(BY_NAME.compare);
      this.#look = "";
    }
    this.#rows = this.#names.map((name) => this.model.nodes.get(name));
    this.#at = Math.min(this.#at, this.#rows.length - 1);
    const said = this.model.about.seesNodes ? `${this.#rows.length}` : "you may not see nodes";
    put(document.getElementById("nodes-count"), said);
  }

  // Draws the cells that have changed; all of them when what they look like has.
  draw(chosen) {
    const box = sizeOf(this.#canvas);
    if (!this.#rows.length || !box.width || !box.height) return;
    const gang = this.model.gangs.get(chosen);
    const number = gang?.nodes ? gang.id : undefined;
    const resource = this.model.resources.indexOf(this.#paint.value);
    const look = [box.width, box.height, devicePixelRatio, this.#rows.length, number, this.#paint.value, colour("panel")].join(" ");
    if (look !== this.#look) {
      this.#context = fitted(this.#canvas).context;
      this.#layOut(box.width, box.height);
      this.#drawn = [];
      this.#look = look;
    }
    const before = this.#framed;
    this.#framed = this.#at;
    this.#rows.forEach((row, index) => {
      if (this.#drawn[index] === row && index !== before && index !== this.#at) return;
      this.#drawn[index] = row;
      this.#cell(this.#context, row, index, resource, number);
    });
    this.#legend(resource);
    this.#tell();
  }

  // As near to squares as fills the room.
  #layOut(width, height) {
    const count = this.#rows.length;
    const side = Math.min(150, Math.sqrt((width * height) / count));
    const columns = Math.max(1, Math.min(count, Math.round(width / side)));
    const lines = Math.ceil(count / columns);
    const [wide, high] = [Math.min(170, width / columns), Math.min(96, height / lines)];
    this.#grid = { columns, wide, high, gap: Math.min(wide, high) > 20 ? 3 : Math.min(wide, high) > 5 ? 1 : 0 };
  }

  // Whole pixels, so that neighbours neither overlap nor leave a line between them.
  #place(index) {
    const { columns, wide, high, gap } = this.#grid;
    const [column, line] = [index % columns, Math.floor(index / columns)];
    const [x, y] = [Math.round(column * wide), Math.round(line * high)];
    return { x, y, w: Math.max(1, Math.round((column + 1) * wide) - x - gap), h: Math.max(1, Math.round((line + 1) * high) - y - gap) };
  }

  #cell(context, row, index, resource, number) {
    const place = this.#place(index);
    const { x, y, w, h } = place;
    const isDim = number !== undefined && !row.gangs.some(([id]) => id === number);
    context.clearRect(x, y, w, h);
    context.globalAlpha = isDim ? 0.35 : 1;
    if (resource < 0) this.#gangs(context, row, place);
    else this.#use(context, row, place, resource);
    if (row.closed) this.#cross(context, place);
    context.globalAlpha = 1;
    if (w >= 64 && h >= 34) this.#label(context, row, place, Math.max(0, resource));
    const least = Math.min(w, h);
    if (number !== undefined && !isDim) this.#frame(context, place, colour("focus"), least > 8 ? 2 : 1);
    if (index === this.#at) this.#frame(context, place, colour("ink"), 2);
  }

  #use(context, row, { x, y, w, h }, resource) {
    const total = row.total[resource];
    context.fillStyle = total ? useColour(row.used[resource] / total) : colour("gang-dim");
    context.fillRect(x, y, w, h);
  }

  // From below, as much as its pods use of what they use most of, in the shares of the gangs.
  #gangs(context, row, { x, y, w, h }) {
    context.fillStyle = colour("gang-dim");
    context.fillRect(x, y, w, h);
    const shares = row.total.map((total, index) => (total ? row.used[index] / total : 0));
    const most = Math.min(1, Math.max(0, ...shares));
    const pods = row.gangs.reduce((sum, [, count]) => sum + count, 0);
    let from = y + h;
    for (const [id, count] of row.gangs) {
      const tall = Math.max(1, Math.round((h * most * count) / pods));
      const top = Math.max(y, from - tall);
      context.fillStyle = gangColour(id);
      context.fillRect(x, top, w, from - top);
      from = top;
    }
  }

  // With room for it, its name and how much of it is used.
  #label(context, row, { x, y, w }, resource) {
    const name = this.model.resources[resource];
    context.font = "11px system-ui, sans-serif";
    context.textAlign = "left";
    context.textBaseline = "top";
    context.lineWidth = 3;
    context.lineJoin = "round";
    context.strokeStyle = colour("panel");
    context.fillStyle = colour("ink");
    const used = name ? `${amount(name, row.used[resource])} of ${amount(name, row.total[resource])} ${name}` : "";
    [row.name, used].forEach((text, line) => {
      context.strokeText(text, x + 5, y + 5 + 14 * line, w - 10);
      context.fillText(text, x + 5, y + 5 + 14 * line, w - 10);
    });
  }

  // Light and dark, so that it is seen on every colour; on small nodes the dark one alone.
  #cross(context, { x, y, w, h }) {
    const inset = w < 10 ? 0 : 2;
    for (const [style, wide] of w < 10 ? [["quiet", 1]] : [["panel", 4], ["ink", 1.5]]) {
      context.strokeStyle = colour(style);
      context.lineWidth = wide;
      context.beginPath();
      context.moveTo(x + inset, y + inset);
      context.lineTo(x + w - inset, y + h - inset);
      context.moveTo(x + w - inset, y + inset);
      context.lineTo(x + inset, y + h - inset);
      context.stroke();
    }
    context.lineWidth = 1;
  }

  #frame(context, { x, y, w, h }, style, thick) {
    context.strokeStyle = style;
    context.lineWidth = thick;
    context.strokeRect(x + thick / 2, y + thick / 2, w - thick, h - thick);
  }

  #legend(resource) {
    const isUse = resource >= 0;
    const key = isUse ? `use ${colour("isDark")}` : "gang";
    if (this.#scale.dataset.of === key) return;
    this.#scale.dataset.of = key;
    if (!isUse) {
      this.#scale.replaceChildren("one colour each, as high as it uses the node");
      return;
    }
    const canvas = element("canvas", { width: 120, height: 10 });
    this.#scale.replaceChildren("free", canvas, "full");
    const context = canvas.getContext("2d");
    for (let x = 0; x < 120; x += 1) {
      context.fillStyle = useColour(x / 119);
      context.fillRect(x, 0, 1, 10);
    }
  }

  #tell() {
    const row = this.#rows[this.#at];
    put(this.#text, row ? this.#said(row) : "");
    this.#text.title = this.#text.textContent;
  }

  #said(row) {
    const resource = Math.max(0, this.model.resources.indexOf(this.#paint.value));
    const name = this.model.resources[resource];
    const used = name ? `${amount(name, row.used[resource])} of ${amount(name, row.total[resource])} ${name}` : "";
    const numbered = this.model.byNumber();
    const gangs = row.gangs.map(([id, count]) => `${this.model.gangs.get(numbered.get(id))?.name ?? "others"} (${count})`);
    return [row.name + (row.closed ? " (cordoned)" : ""), used, gangs.slice(0, 4).join(", ")].filter(Boolean).join(": ");
  }

  #point(event) {
    const { columns, wide, high } = this.#grid;
    const [column, line] = [Math.floor(event.offsetX / wide), Math.floor(event.offsetY / high)];
    const index = column < columns ? line * columns + column : -1;
    this.#isPointed = true;
    this.#go(index < this.#rows.length ? index : -1);
  }

  #leave() {
    if (this.#isPointed || document.activeElement !== this.#canvas) this.#go(-1);
    this.#isPointed = false;
  }

  #go(index) {
    if (index === this.#at) return;
    this.#at = index;
    this.redraw();
  }

  #open(onOpen) {
    const numbered = this.model.byNumber();
    const uid = this.#rows[this.#at]?.gangs.map(([id]) => numbered.get(id)).find(Boolean);
    if (uid) onOpen(uid);
  }

  #key(event, onOpen) {
    const { columns } = this.#grid;
    const steps = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns, Home: -Infinity, End: Infinity };
    if (event.key === "Enter") this.#open(onOpen);
    else if (event.key in steps) this.#go(Math.max(0, Math.min(this.#rows.length - 1, this.#at + steps[event.key])));
    else return;
    this.#isPointed = false;
    event.preventDefault();
  }
}
