import { drawArrow, drawDot, drawText, fillBox, strokeLine, strokeSquare } from "./canvas.js";
import { axisAt, isPass, sledWord } from "./motion.js";
import { formatCount } from "./text.js";
import { palette, phaseColour } from "./theme.js";

const [PATHS_SHOWN, PATHS_KEPT, POINTS_A_PHASE, MOST_POINTS, MOST_TIP_SQUARES] = [6, 64, 5, 4000, 4096];

// The times at which to take points of an axis, s after the begin of an access.
function cutsOf(axis, access) {
  const cuts = [];
  let at = 0;
  for (let i = axis.first[access]; i < axis.first[access + 1]; at += axis.s[i++]) {
    const fine = (axis.how[i] & 3) !== 0 && !isPass(axis, i) ? POINTS_A_PHASE : 1;
    for (let j = 0; j < fine; j++) cuts.push(at + axis.s[i] * j / fine);
  }
  return [...cuts, at];
}

function samplePath(device, access) {
  const cuts = [...cutsOf(device.x, access), ...cutsOf(device.y, access)].sort((a, b) => a - b);
  const stride = Math.ceil(cuts.length / MOST_POINTS);
  return cuts.filter((_, i) => i % stride === 0).map((t) => {
    const y = axisAt(device.y, access, t);
    return { t, x: axisAt(device.x, access, t).place, y: y.place, passes: y.i >= 0 && isPass(device.y, y.i) };
  });
}

// The paths of the last accesses up to one: points with t (s), x, y (m), and whether a pass follows.
function recentPaths(device, access, count) {
  const paths = [];
  if (device.paths.size > PATHS_KEPT) device.paths.clear();
  for (let k = Math.max(0, access - count + 1); k <= access; k++) {
    if (!device.paths.has(k)) device.paths.set(k, samplePath(device, k));
    paths.push(device.paths.get(k));
  }
  return paths;
}

// Draws the recent accesses, older ones paler; toX and toY give pixels of places in m.
function drawPaths(pen, device, state, toX, toY) {
  const paths = recentPaths(device, state.access, PATHS_SHOWN);
  paths.forEach((path, i) => {
    const last = i === paths.length - 1;
    const points = last ? path.filter(({ t }) => t <= state.tau) : path;
    if (last) points.push({ x: state.x_m, y: state.y_m });
    const way = points.flatMap(({ x, y }) => [toX(x), toY(y)]);
    pen.globalAlpha = last ? 1 : 0.15 + 0.45 * (i + 1) / paths.length;
    points.forEach(({ passes }, j) => passes && strokeLine(pen, palette["c-transfer"], 4, way.slice(2 * j, 2 * j + 4)));
    strokeLine(pen, palette["c-seek"], 1.5, way);
  });
  pen.globalAlpha = 1;
}

/** Draws a sled from above: its plate on springs, its path, its velocity. */
export function drawSled(pen, width, height, device, state) {
  const size = Math.min(width, height);
  const [cx, cy, plate, frame, reach] = [width / 2, height / 2, size * 0.19, size * 0.47, size * 0.24];
  const [toX, toY] = [(x) => cx + x / device.reach_x_m * reach, (y) => cy - y / device.reach_y_m * reach];
  const [x, y, word] = [toX(state.x_m), toY(state.y_m), sledWord(state)];
  strokeSquare(pen, palette.muted, 1, cx, cy, frame);
  for (const side of [-1, 1]) {
    strokeLine(pen, palette.line, 2, [cx + side * frame, cy, x + side * plate, y]);
    strokeLine(pen, palette.line, 2, [cx, cy + side * frame, x, y + side * plate]);
  }
  const box = [x - plate, y - plate, 2 * plate, 2 * plate];
  [[palette.panel, 1], [phaseColour(word), 0.18]].forEach(([colour, alpha]) => fillBox(pen, colour, alpha, box));
  strokeSquare(pen, phaseColour(word), 3, x, y, plate);
  strokeSquare(pen, palette.line, 1, cx, cy, reach, [3, 3]);
  drawPaths(pen, device, state, toX, toY);
  // An arrow of 0.3 of the picture is the velocity that crosses the reach in 0.4 ms.
  const scale = size * 0.3 / (device.reach_x_m * 2500);
  drawArrow(pen, palette.accent, x, y, state.x_m_s * scale, -state.y_m_s * scale, size * 0.4);
  drawDot(pen, palette.ink, x, y, 4);
  drawText(pen, palette.ink, word + (state.interpolated ? " (interpolated)" : ""), cx - frame + 8, cy - frame + 13);
  drawText(pen, palette.muted, "X →  Y ↑", cx + frame - 6, cy + frame - 12, "right");
}

/** Draws the square of one tip: rows and cylinders, the path, the places that requests wait for. */
export function drawTipSquare(pen, width, height, device, state, waiting) {
  const size = Math.min(width - 44, height - 36);
  const [left, top] = [(width - size) / 2 + 12, (height - size) / 2 - 6];
  const toX = (x) => left + (x / device.reach_x_m + 1) / 2 * size;
  const toY = (y) => top + (1 - y / device.reach_y_m) / 2 * size;
  const [edges, row, passes, x] = [device.edge_m, state.media_row, state.pass >= 0, toX(state.x_m)];
  const band = [left, toY(edges[row + 1]), size, toY(edges[row]) - toY(edges[row + 1])];
  if (row >= 0) fillBox(pen, passes ? palette["c-transfer"] : palette.muted, passes ? 0.35 : 0.15, band);
  for (let i = 0; i <= device.rows; i += Math.ceil(device.rows * 5 / size)) {
    strokeLine(pen, palette.line, 1, [left, toY(edges[i]), left + size, toY(edges[i])]);
  }
  for (let at = left; at <= left + size; at += size / 10) strokeLine(pen, palette.line, 1, [at, top, at, top + size]);
  drawPaths(pen, device, state, toX, toY);
  for (const { cylinder, row: at } of waiting) {
    const place = toX((cylinder - device.xOffset) * device.bit_m);
    drawDot(pen, palette.accent, place, toY((edges[at] + edges[at + 1]) / 2), 4, true);
  }
  strokeLine(pen, palette.muted, 1, [x, top, x, top + size], [2, 3]);
  drawDot(pen, palette.ink, x, toY(state.y_m), 4.5);
  strokeSquare(pen, palette.muted, 1, left + size / 2, top + size / 2, size / 2);
  ["0", "cylinder", formatCount(device.cylinders - 1)].forEach((text, i) =>
    drawText(pen, palette.muted, text, left + size * i / 2, top + size + 11, ["left", "center", "right"][i]));
  [device.rows - 1, "row", "0"].forEach((text, i) =>
    drawText(pen, palette.muted, text, left - 6, top + 6 + (size - 12) * i / 2, "right"));
}

/** Gives the tips lit in a pass, given by its index: first tip and how many. */
export function litTips(device, passIndex) {
  if (passIndex < 0) return { first: 0, count: 0 };
  const { pass_track: track, pass_cell: cell, pass_blocks: blocks } = device.col;
  const first = (track[passIndex] * device.blocks_per_row + cell[passIndex]) * device.tips_per_block;
  return { first, count: blocks[passIndex] * device.tips_per_block };
}

/** Gives how many tips one square of the picture of tips stands for. */
export const tipsASquare = (device) =>
  Math.max(device.tips <= 1024 ? 1 : device.tips_per_block, Math.ceil(device.tips / MOST_TIP_SQUARES));

/** Draws the tips as squares, those lit in the pass under way filled. */
export function drawTips(pen, width, height, device, state) {
  const unit = tipsASquare(device);
  const across = Math.ceil(Math.sqrt(device.tips / unit));
  const pitch = Math.min(width, height) * 0.94 / across;
  const [left, top] = [(width - pitch * across) / 2, (height - pitch * across) / 2];
  const { first, count } = litTips(device, state.passIndex);
  for (let i = 0; i * unit < device.tips; i++) {
    const isLit = (i + 1) * unit > first && i * unit < first + count;
    pen.fillStyle = isLit ? palette["c-transfer"] : palette.line;
    pen.fillRect(left + (i % across) * pitch, top + Math.floor(i / across) * pitch, pitch * 0.84, pitch * 0.84);
  }
}
