import { drawDot, drawText, strokeLine } from "./canvas.js";
import { palette, phaseColour } from "./theme.js";

const TURN = 2 * Math.PI;

// Draws a ring, or a part of one, about the middle of the platter; from and turn in revolutions.
function drawRing(pen, colour, radius, width, from = 0, turn = 1) {
  pen.beginPath();
  pen.arc(0, 0, radius, from * TURN, (from + Math.min(1, Math.max(0.001, turn))) * TURN);
  Object.assign(pen, { strokeStyle: colour, lineWidth: width });
  pen.stroke();
}

function drawZones(pen, device, toRadius) {
  const most = Math.max(...device.zones.map((zone) => zone.blocks_per_track));
  for (const { first_cylinder: first, last_cylinder: last, blocks_per_track: blocks } of device.zones) {
    const [outer, inner] = [toRadius(first), toRadius(last + 1)];
    pen.globalAlpha = 0.08 + 0.3 * blocks / most;
    drawRing(pen, palette.muted, (outer + inner) / 2, outer - inner);
    pen.globalAlpha = 1;
    drawRing(pen, palette.line, outer, 1);
  }
}

/** Draws a disk from above: zones, the platter's angle, the arm, the sectors under way and those waited for. */
export function drawDisk(pen, width, height, device, state, waiting) {
  const size = Math.min(width, height);
  const [outer, inner, left, top] = [size * 0.4, size * 0.14, (width - size) / 2 + 4, (height - size) / 2 + 10];
  const toRadius = (cylinder) => outer - (outer - inner) * cylinder / device.cylinders;
  const { angle, turn } = device.col;
  pen.save();
  pen.translate(width / 2 - size * 0.05, height / 2);
  drawZones(pen, device, toRadius);
  // A mark on the platter at angle 0 shows that it turns.
  const [c, s] = [Math.cos(-state.angle * TURN), Math.sin(-state.angle * TURN)];
  strokeLine(pen, palette.muted, 2, [0, 0, c * inner, s * inner]);
  drawDot(pen, palette.muted, c * (outer + 5), s * (outer + 5), 3);
  drawDot(pen, palette.muted, 0, 0, size * 0.03);
  for (const { cylinder, pass } of waiting) {
    drawRing(pen, palette.accent, toRadius(cylinder), 2.5, angle[pass] - state.angle, turn[pass]);
  }
  const { pass, interpolated, from, to } = state;
  if (pass >= 0) drawRing(pen, palette["c-transfer"], toRadius(to), 5, angle[pass] - state.angle, turn[pass]);
  const [head, pivot, dash] = [toRadius(state.cylinder), [size * 0.49, size * 0.4], interpolated ? [4, 4] : []];
  if (interpolated) strokeLine(pen, palette["c-seek"], 3, [toRadius(from), 0, toRadius(to), 0], dash);
  strokeLine(pen, palette.ink, 2.5, [...pivot, head, 0], dash);
  drawDot(pen, phaseColour(state.phase), head, 0, 5);
  drawDot(pen, palette.ink, head, 0, 5, true);
  drawDot(pen, palette.ink, ...pivot, 5);
  pen.restore();
  drawText(pen, palette.ink, state.phase, left, top);
  if (interpolated) drawText(pen, palette.ink, "arm interpolated", left + size - 8, top, "right");
}
