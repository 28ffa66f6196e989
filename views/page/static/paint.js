// Colours come from the style sheet, so that light and dark are said once; shapes tell states apart without any colour.

export const STATES = ["waiting", "held", "starting", "running", "preempted", "gave-up", "suspended", "done", "failed", "gone"];

let colours = {};

export const readColours = () => {
  const style = getComputedStyle(document.documentElement);
  const one = (name) => style.getPropertyValue(`--${name}`).trim();
  const names = [...STATES, "ink", "quiet", "line", "panel", "focus", "over", "gang-dim"];
  colours = Object.fromEntries(names.map((name) => [name, one(name)]));
  colours.use = [0, 1, 2, 3, 4, 5].map((step) => one(`use-${step}`));
  colours.ramp = ramp(colours.use);
  colours.isDark = matchMedia("(prefers-color-scheme: dark)").matches;
};

export const colour = (name) => colours[name];

// 64 steps between the six colours of use.
const ramp = (stops) => {
  const rgb = stops.map((text) => [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16)));
  return Array.from({ length: 64 }, (_, step) => {
    const at = (step / 63) * (rgb.length - 1);
    const low = Math.min(Math.floor(at), rgb.length - 2);
    const mixed = rgb[low].map((part, index) => Math.round(part + (rgb[low + 1][index] - part) * (at - low)));
    return `rgb(${mixed.join(" ")})`;
  });
};

export const useColour = (share) => (share > 1.0001 ? colours.over : colours.ramp[Math.round(Math.max(0, share) * 63)]);

// Far enough apart for neighbours by number; the golden angle keeps it so for any count.
export const gangColour = (id) => {
  if (!id) return colours.suspended;
  const lightness = (colours.isDark ? [62, 74, 50] : [45, 58, 34])[id % 3];
  return `hsl(${Math.round((id * 137.508) % 360)} 62% ${lightness}%)`;
};

// Share of the row's height that a state fills from below; hatched ones are striped.
const HEIGHT = { waiting: 0.5, held: 0.22, starting: 0.75, running: 1, preempted: 1, "gave-up": 0.5, suspended: 0.12, done: 0.12, failed: 1, gone: 0.06 };

// So many pixels wide at least: gone in a moment, and what people look for.
export const LEAST = { preempted: 6, failed: 4 };
const HATCHED = new Set(["preempted", "gave-up"]);

export const drawState = (context, state, x, y, width, height) => {
  const tall = Math.max(1, Math.round(height * (HEIGHT[state] ?? 1)));
  context.fillStyle = colours[state] ?? colours.quiet;
  context.fillRect(x, y + height - tall, width, tall);
  if (!HATCHED.has(state) || width < 3) return;
  context.save();
  context.beginPath();
  context.rect(x, y + height - tall, width, tall);
  context.clip();
  context.strokeStyle = colours.panel;
  context.lineWidth = 1.5;
  context.beginPath();
  for (let at = x - height; at < x + width; at += 6) {
    context.moveTo(at, y + height);
    context.lineTo(at + height, y);
  }
  context.stroke();
  context.restore();
};

// Sizes are heard of, not asked for: asking in the middle of changes would make the browser lay everything out at once.
const sizes = new WeakMap();
const observer = new ResizeObserver((entries) => {
  for (const { target, contentRect } of entries) {
    sizes.set(target, contentRect);
    target.dispatchEvent(new Event("resized"));
  }
});

export const onSize = (box, work) => {
  box.addEventListener("resized", work);
  observer.observe(box);
};

export const sizeOf = (box) => sizes.get(box) ?? { width: 0, height: 0 };

// The context of a canvas in CSS pixels, sharp on any screen; undefined while it has no size.
export const fitted = (canvas, { width, height } = sizeOf(canvas)) => {
  if (!width || !height) return undefined;
  const ratio = devicePixelRatio || 1;
  const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== wide || canvas.height !== high) Object.assign(canvas, { width: wide, height: high });
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return { context, width, height };
};
