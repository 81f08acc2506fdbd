import { lastAtOrBefore } from "./search.js";
import { clearCanvas, makeCanvas } from "./canvas.js";
import { joinWords, make, rowAsks, rowName, setText } from "./text.js";
import { palette } from "./theme.js";

const CELLS = 256;
const KEEP_EVERY = 1024;

/** Gives the devices that served a row, directly, as indices. */
export function servedBy(run, row) {
  const found = new Set();
  for (let child = run.firstChild[row]; child >= 0; child = run.nextChild[child]) found.add(run.col.device[child]);
  return [...found];
}

// Which part served a row: bit 0 the front, bit 1 the others; 0 none.
function sideOf(run, row, front) {
  let side = 0;
  for (let child = run.firstChild[row]; child >= 0; child = run.nextChild[child]) {
    side |= run.col.device[child] === front ? 1 : 2;
  }
  return side;
}

const partsOf = (run, outer) => run.devices.filter((device) => device.parent === outer.index);

/** Finds the hybrid in a run: a device over two parts of which one moves unlike the other; undefined if none. */
export function hybridOf(run) {
  return run.devices.find((outer) => {
    const [one, other, ...more] = partsOf(run, outer);
    return other && !more.length && one.role !== other.role && (one.accesses > 0 || other.accesses > 0);
  });
}

/** Makes the strip of a hybrid's LBN space: cells by who served the last request there. */
export function makeStrip(run, outer) {
  const parts = partsOf(run, outer);
  const front = parts.find((part) => part.role === "sled") ?? parts.find((part) => /front|cache/.test(part.name)) ?? parts[0];
  const back = parts.find((part) => part !== front);
  const rows = Uint32Array.from(run.col.device.keys().filter((row) => run.col.device[row] === outer.index));
  const starts = Float64Array.from(rows, (row) => run.col.start_ns[row]);
  const kept = [];
  const cells = new Uint8Array(CELLS);
  const cellBlocks = outer.blocks / CELLS;
  let shown = -2;
  const put = (i) => {
    const row = rows[i];
    const side = sideOf(run, row, front.index);
    if (!side) return;
    const first = Math.floor(run.col.lbn[row] / cellBlocks);
    const last = Math.floor((run.col.lbn[row] + Math.max(1, run.col.blocks[row]) - 1) / cellBlocks);
    for (let cell = Math.max(0, first); cell <= Math.min(CELLS - 1, last); cell++) cells[cell] = side;
  };
  const moveTo = (target) => {
    if (target < shown || target > shown + KEEP_EVERY) {
      const mark = Math.min(Math.floor((target + 1) / KEEP_EVERY), kept.length - 1);
      cells.set(kept[mark] ?? new Uint8Array(CELLS));
      shown = Math.max(0, mark) * KEEP_EVERY - 1;
    }
    while (shown < target) {
      if ((shown + 1) % KEEP_EVERY === 0 && kept.length === (shown + 1) / KEEP_EVERY) kept.push(cells.slice());
      put(++shown);
    }
  };
  shown = -1;
  const colours = () => ["line", "c-seek", "c-rotation", "c-overhead"].map((name) => palette[name]);
  const words = ["not used yet", `${front.name}: a hit`, `${back.name}: a miss`, "both"];
  const keys = words.map((word, i) => make("li", {}, make("i", { class: `swatch side-${i}` }), word));
  const canvas = makeCanvas("strip", "LBN space");
  const now = make("p", { class: "served" }, "No request yet.");
  const element = make(
    "section", { class: "hybrid" }, make("h4", {}, "LBN space: which part served the last request there"),
    canvas, make("ul", { class: "legend" }, ...keys), now,
  );
  return {
    element,
    draw(t) {
      const sheet = clearCanvas(canvas);
      if (!sheet) return;
      moveTo(lastAtOrBefore(starts, t));
      const paints = colours();
      for (let cell = 0; cell < CELLS; cell++) {
        sheet.pen.fillStyle = paints[cells[cell]];
        sheet.pen.fillRect(cell * sheet.width / CELLS, 0, sheet.width / CELLS, sheet.height);
      }
    },
    describe(t, full) {
      const i = lastAtOrBefore(starts, t);
      if (i < 0) return setText(now, "No request yet.");
      const row = rows[i];
      const names = servedBy(run, row).map((device) => run.devices[device].name);
      const by = names.length ? `served by ${joinWords(names)}` : "served by no part of its own request";
      setText(now, `${rowName(run, row)}, ${rowAsks(run, row)}: ${by}.`);
      if (!full) return null;
      const count = [0, 0, 0, 0];
      for (const side of cells) count[side]++;
      const label = words.map((word, side) => `${count[side]} ${word}`).join(", ");
      return canvas.setAttribute("aria-label", `${CELLS} cells of the LBN space: ${label}`);
    },
  };
}
