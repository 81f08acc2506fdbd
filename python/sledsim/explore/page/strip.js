import { lastAtOrBefore } from "./search.js";
import { makeCanvas, paint } from "./canvas.js";
import { joinWords, make, rowAsks, rowName, setText, swatch } from "./text.js";
import { causeColour, palette } from "./theme.js";

const [CELLS, TITLE] = [256, "LBN space: which part served the last request there"];
const SIDE_CAUSES = ["none", "seek", "rotation", "overhead"];

/** Gives the devices that served a row, directly, as indices. */
export function servedBy(run, row) {
  const found = new Set();
  for (let child = run.firstChild[row]; child >= 0; child = run.nextChild[child]) found.add(run.col.device[child]);
  return [...found];
}

/** Gives a hybrid in a run and its two parts, front first; null if there is none: both parts move, unlike each other. */
export function hybridParts(run) {
  for (const outer of run.devices) {
    const parts = run.devices.filter((device) => run.devices[device.parent] === outer);
    if (parts.length !== 2 || parts[0].role === parts[1].role || parts.some((part) => part.role === "other")) continue;
    return [outer, ...(parts[0].role === "sled" ? parts : parts.reverse())];
  }
  return null;
}

// Follows which part served the last request begun in each cell of the LBN space: 1 front, 2 back, 3 both, 0 none.
function followCells(run, outer, front) {
  const { lbn, blocks } = run.col;
  const [cells, cellBlocks] = [new Uint8Array(CELLS), outer.blocks / CELLS];
  const sides = Uint8Array.from(outer.rowsHere, (row) =>
    servedBy(run, row).reduce((all, device) => all | (device === front.index ? 1 : 2), 0));
  let shown = -1;
  return (target) => {
    if (target < shown && cells.fill(0)) shown = -1;
    while (shown < target) {
      const row = outer.rowsHere[++shown];
      const [first, last] = [lbn[row], lbn[row] + Math.max(1, blocks[row]) - 1].map((at) => Math.floor(at / cellBlocks));
      if (sides[shown]) cells.fill(sides[shown], first, last + 1);
    }
    return cells;
  };
}

/** Makes the strip of a hybrid's LBN space: {element, draw(t), describe(t)}, t in ns. */
export function makeStrip(run, [outer, front, back]) {
  const cellsAt = followCells(run, outer, front);
  const words = ["not used yet", `${front.name}: a hit`, `${back.name}: a miss`, "both"];
  const keys = words.map((word, i) => make("li", {}, swatch(SIDE_CAUSES[i]), word));
  const [canvas, now] = [makeCanvas("strip", "LBN space"), make("p")];
  const starts = Float64Array.from(outer.rowsHere, (row) => run.col.start_ns[row]);
  const rowAt = (t) => lastAtOrBefore(starts, t);
  return {
    element: make("section", {}, make("h4", {}, TITLE), canvas, make("ul", { class: "legend" }, ...keys), now),
    draw: (t) => paint(canvas, (pen, width, height) => cellsAt(rowAt(t)).forEach((side, cell) => {
      pen.fillStyle = side ? causeColour(SIDE_CAUSES[side]) : palette.line;
      pen.fillRect(cell * width / CELLS, 0, width / CELLS + 0.5, height);
    })),
    describe(t, full) {
      const row = outer.rowsHere[rowAt(t)];
      const names = row === undefined ? [] : servedBy(run, row).map((device) => run.devices[device].name);
      const by = joinWords(names) || "no part for it alone";
      setText(now, row === undefined ? "No request yet." : `${rowName(run, row)}, ${rowAsks(run, row)}: served by ${by}.`);
      const counts = words.map((word, side) => `${cellsAt(rowAt(t)).filter((one) => one === side).length} ${word}`);
      if (full) canvas.ariaLabel = `${CELLS} cells of the LBN space: ${joinWords(counts)}`;
    },
  };
}
