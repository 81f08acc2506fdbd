import { clearCanvas, drawArrow, drawDot, drawText, strokeLine } from "./canvas.js";
import { recentPaths } from "./paths.js";
import { sledWord } from "./motion.js";
import { formatCount } from "./text.js";
import { palette, phaseColour } from "./theme.js";

const PATHS_SHOWN = 8;
const MOST_TIP_SQUARES = 4096;

// Draws the recent accesses, older ones paler; toX and toY give pixels of places in m.
function drawPaths(pen, device, state, toX, toY) {
  const paths = recentPaths(device, state.access, PATHS_SHOWN);
  paths.forEach((path, i) => {
    const last = i === paths.length - 1;
    let end = path.t.length;
    if (last) while (end > 0 && path.t[end - 1] > state.tau) end--;
    pen.globalAlpha = last ? 1 : 0.15 + 0.45 * (i + 1) / paths.length;
    const way = [];
    pen.strokeStyle = palette["c-transfer"];
    pen.lineWidth = 4;
    pen.beginPath();
    for (let j = 0; j < end; j++) {
      const [x, y] = [toX(path.x[j]), toY(path.y[j])];
      way.push(x, y);
      if (!path.passes[j]) continue;
      const next = j + 1 < end;
      pen.moveTo(x, y);
      pen.lineTo(toX(next ? path.x[j + 1] : state.x_m), toY(next ? path.y[j + 1] : state.y_m));
    }
    pen.stroke();
    if (last) way.push(toX(state.x_m), toY(state.y_m));
    if (way.length > 3) strokeLine(pen, palette["c-seek"], 1.5, way);
  });
  pen.globalAlpha = 1;
}

function drawSpring(pen, x0, y0, x1, y1) {
  const [dx, dy] = [x1 - x0, y1 - y0];
  const length = Math.hypot(dx, dy) || 1;
  const points = [x0, y0];
  for (let i = 1; i < 10; i++) {
    const out = (i % 2 ? 5 : -5) / length;
    points.push(x0 + dx * i / 10 - dy * out, y0 + dy * i / 10 + dx * out);
  }
  strokeLine(pen, palette.line, 1.5, [...points, x1, y1]);
}

/** Draws a sled from above: its plate on springs, its path, its velocity. */
export function drawSled(canvas, device, state) {
  const sheet = clearCanvas(canvas);
  if (!sheet) return;
  const { pen, width, height } = sheet;
  const size = Math.min(width, height);
  const [cx, cy, plate] = [width / 2, height / 2, size * 0.19];
  const toX = (x) => cx + x / device.reach_x_m * size * 0.24;
  const toY = (y) => cy - y / device.reach_y_m * size * 0.24;
  const [x, y] = [toX(state.x_m), toY(state.y_m)];
  const frame = size * 0.47;
  pen.strokeStyle = palette.muted;
  pen.strokeRect(cx - frame, cy - frame, 2 * frame, 2 * frame);
  drawSpring(pen, cx - frame, cy, x - plate, y);
  drawSpring(pen, cx + frame, cy, x + plate, y);
  drawSpring(pen, cx, cy - frame, x, y - plate);
  drawSpring(pen, cx, cy + frame, x, y + plate);
  const colour = phaseColour(sledWord(state));
  pen.fillStyle = palette.panel;
  pen.fillRect(x - plate, y - plate, 2 * plate, 2 * plate);
  pen.globalAlpha = 0.18;
  pen.fillStyle = colour;
  pen.fillRect(x - plate, y - plate, 2 * plate, 2 * plate);
  pen.globalAlpha = 1;
  pen.strokeStyle = colour;
  pen.lineWidth = 3;
  pen.strokeRect(x - plate, y - plate, 2 * plate, 2 * plate);
  pen.setLineDash([3, 3]);
  pen.lineWidth = 1;
  pen.strokeStyle = palette.line;
  pen.strokeRect(toX(-device.reach_x_m), toY(device.reach_y_m), size * 0.48, size * 0.48);
  pen.setLineDash([]);
  drawPaths(pen, device, state, toX, toY);
  const full = Math.max(device.access_m_s, device.reach_x_m * 4000);
  const scale = size * 0.2 / full;
  drawArrow(pen, palette.accent, x, y, state.x_m_s * scale, -state.y_m_s * scale);
  drawDot(pen, palette.ink, x, y, 4);
  drawText(pen, `${sledWord(state)}${state.interpolated ? " (interpolated)" : ""}`, cx - frame + 8, cy - frame + 13, "left", palette.ink);
  drawText(pen, "X →", cx + frame - 6, cy + frame - 12, "right", palette.muted);
  drawText(pen, "Y ↑", cx - frame + 8, cy + frame - 12, "left", palette.muted);
}

/** Draws the square of one tip: rows and cylinders, the path, the places that requests wait for. */
export function drawTipSquare(canvas, device, state, waiting) {
  const sheet = clearCanvas(canvas);
  if (!sheet) return;
  const { pen, width, height } = sheet;
  const size = Math.min(width - 44, height - 36);
  const [left, top] = [(width - size) / 2 + 12, (height - size) / 2 - 6];
  const toX = (x) => left + (x / device.reach_x_m + 1) / 2 * size;
  const toY = (y) => top + (1 - y / device.reach_y_m) / 2 * size;
  const edges = device.edge_m;
  if (state.media_row >= 0) {
    const [from, to] = [toY(edges[state.media_row]), toY(edges[state.media_row + 1])];
    pen.globalAlpha = state.pass >= 0 ? 0.35 : 0.15;
    pen.fillStyle = state.pass >= 0 ? palette["c-transfer"] : palette.muted;
    pen.fillRect(left, Math.min(from, to), size, Math.abs(to - from));
    pen.globalAlpha = 1;
  }
  const skip = Math.ceil(device.rows / (size / 5));
  pen.strokeStyle = palette.line;
  pen.beginPath();
  for (let row = 0; row <= device.rows; row += skip) pen.rect(left, toY(edges[row]), size, 0);
  for (let i = 0; i <= 10; i++) pen.rect(left + size * i / 10, top, 0, size);
  pen.stroke();
  drawPaths(pen, device, state, toX, toY);
  for (const { cylinder, row } of waiting) {
    drawDot(pen, palette.accent, toX((cylinder - device.xOffset) * device.bit_m), toY((edges[row] + edges[row + 1]) / 2), 4, true);
  }
  const x = toX(state.x_m);
  pen.setLineDash([2, 3]);
  strokeLine(pen, palette.muted, 1, [x, top, x, top + size]);
  pen.setLineDash([]);
  drawDot(pen, palette.ink, x, toY(state.y_m), 4.5);
  pen.strokeStyle = palette.muted;
  pen.strokeRect(left, top, size, size);
  drawText(pen, "0", left, top + size + 11, "left", palette.muted);
  drawText(pen, "cylinder", left + size / 2, top + size + 11, "center");
  drawText(pen, formatCount(device.cylinders - 1), left + size, top + size + 11, "right");
  drawText(pen, String(device.rows - 1), left - 6, top + 6, "right");
  drawText(pen, "row", left - 6, top + size / 2, "right");
  drawText(pen, "0", left - 6, top + size - 6, "right");
}

/** Gives the tips lit in a pass: first tip and how many. */
export function litTips(device, passIndex) {
  const { pass_track: track, pass_cell: cell, pass_blocks: blocks } = device.col;
  const first = (track[passIndex] * device.blocks_per_row + cell[passIndex]) * device.tips_per_block;
  return { first, count: blocks[passIndex] * device.tips_per_block };
}

/** Gives how many tips one square of the picture of tips stands for. */
export function tipsASquare(device) {
  const unit = device.tips <= 1024 ? 1 : device.tips_per_block;
  return Math.max(unit, Math.ceil(device.tips / MOST_TIP_SQUARES));
}

/** Draws the tips as squares, those lit in the pass under way filled; draws only what changed. */
export function drawTips(canvas, device, state) {
  const key = [state.passIndex, canvas.clientWidth, palette.ink].join();
  if (canvas.drawnKey === key) return;
  const sheet = clearCanvas(canvas);
  if (!sheet) return;
  canvas.drawnKey = key;
  const { pen, width, height } = sheet;
  const unit = tipsASquare(device);
  const squares = Math.ceil(device.tips / unit);
  const across = Math.ceil(Math.sqrt(squares));
  const pitch = Math.min(width, height) * 0.94 / across;
  const [left, top, side] = [(width - pitch * across) / 2, (height - pitch * across) / 2, pitch * 0.84];
  const lit = state.passIndex >= 0 ? litTips(device, state.passIndex) : { first: 0, count: 0 };
  for (const on of [false, true]) {
    pen.fillStyle = on ? palette["c-transfer"] : palette.line;
    pen.beginPath();
    for (let i = 0; i < squares; i++) {
      const isLit = (i + 1) * unit > lit.first && i * unit < lit.first + lit.count;
      if (isLit === on) pen.rect(left + (i % across) * pitch, top + Math.floor(i / across) * pitch, side, side);
    }
    pen.fill();
  }
}
