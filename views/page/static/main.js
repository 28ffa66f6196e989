// Ties the parts together. What an event changes is marked, and drawn once in the next frame.

import { Details } from "./details.js";
import { put } from "./format.js";
import { GangList } from "./gangs.js";
import { Model } from "./model.js";
import { NodeMap } from "./nodes.js";
import { readColours } from "./paint.js";
import { Panels } from "./panels.js";
import { Tape } from "./tape.js";

const STRIP_PAUSE_MS = 500;
const CLOCK_PAUSE_MS = 1000;

const model = new Model();
const search = document.getElementById("search");
const span = document.getElementById("span");
const dirty = { list: false, strips: false, nodes: false, map: false, queue: false, evictions: false };
let isAsked = false;

const mark = (...parts) => {
  for (const part of parts) dirty[part] = true;
  if (isAsked) return;
  isAsked = true;
  requestAnimationFrame(frame);
};

const open = (uid) => {
  gangs.choose(uid, true);
  details.open(uid);
};

const details = new Details(model, { onClose: () => gangs.focus() });
const gangs = new GangList(model, { onChoose: () => mark("strips", "map"), onOpen: open, redraw: () => mark("strips") });
const nodes = new NodeMap(model, { onOpen: open, redraw: () => mark("map") });
const panels = new Panels(model, { onOpen: open, onFilter: () => mark("list") });

// Takes what is marked, draws it, and leaves the rest alone.
const frame = () => {
  isAsked = false;
  const now = { ...dirty };
  for (const part of Object.keys(dirty)) dirty[part] = false;
  if (now.list) {
    gangs.relist(panels.states, search.value);
    panels.drawChips();
  }
  if (now.nodes) nodes.relist();
  if (now.list || now.strips) gangs.draw(Number(span.value));
  if (now.nodes || now.map) nodes.draw(gangs.chosen);
  if (now.queue) panels.drawQueue();
  if (now.evictions) panels.drawEvictions();
};

const took = (changed) => {
  const { server, namespace } = model.about;
  put(document.getElementById("about"), namespace ? `${server}, namespace ${namespace}` : server);
  if (changed.gangs) {
    mark("list", "queue");
    details.refresh();
  }
  if (changed.nodes) mark("nodes");
  if (changed.evictions) mark("evictions");
};

const tape = new Tape(model, { onShown: () => took({ gangs: true, nodes: true, evictions: true }) });

let isRecording = false;

const live = (isLive) => {
  document.getElementById("live").classList.toggle("is-live", isLive);
  put(document.getElementById("live-text"), isRecording ? "a recording" : isLive ? "live" : "not connected, trying again");
};

const source = new EventSource("events");
source.addEventListener("open", () => live(true));
source.addEventListener("error", () => live(false));
source.addEventListener("full", (event) => took(model.full(JSON.parse(event.data))));
source.addEventListener("delta", (event) => took(model.delta(JSON.parse(event.data))));

source.addEventListener("recording", (event) => {
  isRecording = true;
  source.close();
  tape.load(JSON.parse(event.data));
  live(true);
});

search.addEventListener("input", () => mark("list"));
span.addEventListener("change", () => mark("strips"));
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target === search) return;
  event.preventDefault();
  search.focus();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  readColours();
  mark("list", "nodes");
});
readColours();
// Time goes on without events: strips move, ages grow.
setInterval(() => document.hidden || mark("strips"), STRIP_PAUSE_MS);
setInterval(() => document.hidden || mark("queue"), CLOCK_PAUSE_MS);
