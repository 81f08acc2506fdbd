const wholeNumbers = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const timesInMs = new Intl.NumberFormat("en", { minimumFractionDigits: 3, maximumFractionDigits: 6 });
export const OPERATIONS = ["read", "write", "flush", "trim"];

/** Writes a whole number with commas. */
export const formatCount = (value) => wholeNumbers.format(value);

/** Writes a time given in ns as ms, to the ns. */
export const formatMs = (ns) => `${timesInMs.format(ns / 1e6)} ms`;

/** Writes a time given in ns as ms, to the µs. */
export const formatShortMs = (ns) => `${(ns / 1e6).toFixed(3)} ms`;

/** Writes a number with so many significant digits and no exponent where that reads well. */
export const formatDigits = (value, digits = 4) => String(Number(value.toPrecision(digits)));

/** Writes a time given in ns in the unit that suits the step between ticks (ns). */
export function formatTick(ns, step) {
  const [size, unit] = step >= 1e9 ? [1e9, "s"] : step >= 1e5 ? [1e6, "ms"] : [1e3, "µs"];
  const places = Math.max(0, Math.ceil(-Math.log10(step / size) - 1e-9));
  const [whole, part] = (ns / size).toFixed(places).split(".");
  return `${wholeNumbers.format(Number(whole))}${part ? `.${part}` : ""} ${unit}`;
}

/** Joins words: "a", "a and b", "a, b and c". */
export function joinWords(words) {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}

/** Counts things in words: "1 block", "2 blocks". */
export const countOf = (n, thing) => `${formatCount(n)} ${thing}${n === 1 ? "" : "s"}`;

/** Names a row: "Request 12", or the device's own work. */
export function rowName(run, row) {
  const { id, parent } = run.col;
  return parent[row] === -2 ? `Own work, row ${formatCount(row)}` : `Request ${formatCount(id[row])}`;
}

/** Says what a row asks: "read of 8 blocks at LBN 1,234". */
export function rowAsks(run, row) {
  const { op, blocks, lbn } = run.col;
  const where = `${countOf(blocks[row], "block")} at LBN ${formatCount(lbn[row])}`;
  return `${OPERATIONS[op[row]] ?? "access"} of ${where}`;
}

/** Makes an element with attributes and children (texts or elements). */
export function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/** Sets the text of an element only if it differs. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Fills a definition list with [term, text] pairs, keeping its elements where it can. */
export function fillList(list, pairs) {
  while (list.children.length > pairs.length) list.lastChild.remove();
  pairs.forEach(([term, text], i) => {
    const item = list.children[i] ?? list.appendChild(make("div", {}, make("dt"), make("dd")));
    setText(item.firstChild, term);
    setText(item.lastChild, text);
  });
}
