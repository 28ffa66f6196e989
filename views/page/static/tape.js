// A recording: everything as it was at first, then changes with their times. Any time is shown by carrying out those before it.

import { put } from "./format.js";

const TICK_MS = 100;

export class Tape {
  #box = document.getElementById("tape");
  #time = document.getElementById("time");
  #text = document.getElementById("time-text");
  #play = document.getElementById("play");
  #speed = document.getElementById("speed");
  #full = undefined;
  #deltas = [];
  #next = 0;
  #at = 0;
  #timer = undefined;

  constructor(model, { onShown }) {
    this.model = model;
    this.onShown = onShown;
    this.#time.addEventListener("input", () => this.#show(this.#full.now + Number(this.#time.value)));
    this.#play.addEventListener("click", () => (this.#timer ? this.#stop() : this.#start()));
    this.#box.addEventListener("submit", (event) => event.preventDefault());
  }

  load({ full, deltas }) {
    [this.#full, this.#deltas] = [full, deltas];
    const length = (deltas.at(-1)?.now ?? full.now) - full.now;
    this.#time.max = String(Math.ceil(length / TICK_MS) * TICK_MS);
    // A snapshot is one moment: there is nothing to slide through.
    this.#box.hidden = !deltas.length;
    this.model.isPlayed = deltas.length > 0;
    this.#rewind();
    this.#show(full.now);
  }

  // The server's objects are not to be changed: histories grow, and the tape may be played again.
  #rewind() {
    this.model.full(structuredClone(this.#full));
    this.#next = 0;
    this.#at = this.#full.now;
  }

  #show(at) {
    if (at < this.#at) this.#rewind();
    while (this.#next < this.#deltas.length && this.#deltas[this.#next].now <= at) {
      this.model.delta(structuredClone(this.#deltas[this.#next]));
      this.#next += 1;
    }
    this.#at = at;
    this.model.stand(at);
    const seconds = ((at - this.#full.now) / 1000).toFixed(1);
    put(this.#text, `${new Date(at).toLocaleTimeString([], { hour12: false })}, ${seconds} s after the beginning`);
    this.#time.setAttribute("aria-valuetext", this.#text.textContent);
    this.onShown();
  }

  #start() {
    if (Number(this.#time.value) >= Number(this.#time.max)) this.#time.value = "0";
    put(this.#play, "Pause");
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
  }

  #stop() {
    clearInterval(this.#timer);
    this.#timer = undefined;
    put(this.#play, "Play");
  }

  #tick() {
    const to = Math.min(Number(this.#time.max), Number(this.#time.value) + TICK_MS * Number(this.#speed.value));
    this.#time.value = String(to);
    this.#show(this.#full.now + to);
    if (to >= Number(this.#time.max)) this.#stop();
  }
}
