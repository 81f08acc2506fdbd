const numberFormats = [];
const withPlaces = (n) =>
  (numberFormats[n] ??= new Intl.NumberFormat("en", { minimumFractionDigits: n, maximumFractionDigits: n }));
const [wholeNumbers, threePlaces, sixPlaces] = [0, 3, 6].map(withPlaces);
export const OPERATIONS = ["read", "write", "flush", "trim"];

/** Writes a whole number with commas. */
export const formatCount = (value) => wholeNumbers.format(value);
/** Writes a time given in ns as a number of ms, to the ns. */
export const numberOfMs = (ns) => sixPlaces.format(ns / 1e6);
/** Writes a time given in ns as ms, to the ns. */
export const formatMs = (ns) => `${numberOfMs(ns)}\u00a0ms`;
/** Writes a time given in ns as a number of ms, to the µs. */
export const shortMs = (ns) => threePlaces.format(ns / 1e6);
/** Writes a time given in ns as ms, to the µs. */
export const formatClock = (ns) => `${shortMs(ns)}\u00a0ms`;

/** Writes a time given in ns in the unit that suits the step between ticks (ns). */
export function formatTick(ns, step) {
  const [size, unit] = step >= 1e9 ? [1e9, "s"] : step >= 1e5 ? [1e6, "ms"] : [1e3, "µs"];
  return `${withPlaces(Math.max(0, Math.ceil(-Math.log10(step / size) - 1e-9))).format(ns / size)} ${unit}`;
}

/** Joins words: "a", "a and b", "a, b and c". */
export const joinWords = (words) =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
/** Counts things in words: "1 block", "2 blocks". */
export const countOf = (n, thing, things = `${thing}s`) => `${formatCount(n)} ${n === 1 ? thing : things}`;

/** Names a row: "Request 12", or the device's own work. */
export const rowName = (run, row) =>
  run.col.parent[row] === -2 ? `Own work, row ${formatCount(row)}` : `Request ${formatCount(run.col.id[row])}`;

/** Says what a row asks: "read of 8 blocks at LBN 1,234". */
export function rowAsks(run, row) {
  const { op, blocks, lbn } = run.col;
  return `${OPERATIONS[op[row]] ?? "access"} of ${countOf(blocks[row], "block")} at LBN ${formatCount(lbn[row])}`;
}

/** Makes an element with attributes and children (texts or elements). */
export function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/** Makes a square of the colour of a cause, or a piece of a bar of so large a share. */
export const swatch = (cause, share = 0) =>
  make("i", { class: "swatch", style: `--swatch: var(--c-${cause}, var(--line)); flex-grow: ${share}` });

/** Sets the text of an element only if it differs. */
export const setText = (element, text) => element.textContent === text || (element.textContent = text);

/** Fills a definition list with [term, text] pairs, keeping its elements where it can. */
export function fillList(list, pairs) {
  while (list.children.length > pairs.length) list.lastChild.remove();
  pairs.forEach(([term, text], i) => {
    const item = list.children[i] ?? list.appendChild(make("div", {}, make("dt"), make("dd")));
    if (item.dataset.term !== term) item.firstChild.textContent = item.dataset.term = term;
    setText(item.lastChild, text);
  });
}
