// Times, amounts and elements as people read them.

export const age = (ms) => {
  const s = Math.max(0, Math.round(ms / 1000));
  if (s < 120) return `${s}s`;
  if (s < 7200) return `${Math.floor(s / 60)}m${s < 600 && s % 60 ? `${s % 60}s` : ""}`;
  if (s < 172800) return `${Math.floor(s / 3600)}h${s < 28800 && Math.floor(s / 60) % 60 ? `${Math.floor(s / 60) % 60}m` : ""}`;
  return `${Math.floor(s / 86400)}d`;
};

// A length of time in its largest whole unit.
export const round = (ms) => {
  const s = Math.round(ms / 1000);
  if (s % 3600 === 0) return `${s / 3600}h`;
  return s % 60 === 0 ? `${s / 60}m` : `${s}s`;
};

const BINARY = ["", "Ki", "Mi", "Gi", "Ti", "Pi"];

// Amounts come in thousandths of a core for cpu, in bytes for memory, in whole units for the rest.
export const amount = (resource, value) => {
  if (resource === "cpu") return `${+(value / 1000).toFixed(2)}`;
  if (resource !== "memory") return `${value}`;
  let unit = 0;
  let left = value;
  while (left >= 1024 && unit < BINARY.length - 1) { left /= 1024; unit += 1; }
  return `${+left.toFixed(1)}${BINARY[unit]}`;
};

export const started = (gang) => gang.pods[1] + gang.pods[3];
export const full = (gang) => `${gang.ns}/${gang.name}`;

export const put = (element, text) => {
  if (element.textContent !== text) element.textContent = text;
};

export const element = (tag, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
};
