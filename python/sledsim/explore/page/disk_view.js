import { clearCanvas, drawDot, drawText, strokeLine } from "./canvas.js";
import { palette, phaseColour } from "./theme.js";

const TURN = 2 * Math.PI;

function drawZones(pen, device, toRadius) {
  const most = Math.max(...device.zones.map((zone) => zone.blocks_per_track));
  device.zones.forEach((zone) => {
    const [outer, inner] = [toRadius(zone.first_cylinder), toRadius(zone.last_cylinder + 1)];
    pen.beginPath();
    pen.arc(0, 0, outer, 0, TURN);
    pen.arc(0, 0, Math.max(0, inner), TURN, 0, true);
    pen.globalAlpha = 0.08 + 0.3 * zone.blocks_per_track / most;
    pen.fillStyle = palette.muted;
    pen.fill();
    pen.globalAlpha = 1;
    pen.strokeStyle = palette.line;
    pen.stroke();
  });
}

function drawArc(pen, device, pass, radius, angle, colour, width) {
  const { angle: begin, turn } = device.col;
  const from = (begin[pass] - angle) * TURN;
  pen.beginPath();
  pen.arc(0, 0, radius, from, from + Math.min(0.9999, Math.max(0.004, turn[pass])) * TURN);
  pen.strokeStyle = colour;
  pen.lineWidth = width;
  pen.stroke();
}

/** Draws a disk from above: zones, the platter's angle, the arm, the sectors under way and those waited for. */
export function drawDisk(canvas, device, state, waiting) {
  const sheet = clearCanvas(canvas);
  if (!sheet) return;
  const { pen, width, height } = sheet;
  const size = Math.min(width, height);
  const [outer, inner] = [size * 0.4, size * 0.14];
  const toRadius = (cylinder) => outer - (outer - inner) * cylinder / device.cylinders;
  pen.save();
  pen.translate(width / 2 - size * 0.05, height / 2);
  drawZones(pen, device, toRadius);
  // A mark on the platter at angle 0 shows that it turns.
  const mark = -state.angle * TURN;
  const [c, s] = [Math.cos(mark), Math.sin(mark)];
  strokeLine(pen, palette.muted, 2, [c * size * 0.03, s * size * 0.03, c * inner, s * inner]);
  drawDot(pen, palette.muted, c * (outer + 5), s * (outer + 5), 3);
  drawDot(pen, palette.muted, 0, 0, size * 0.03);
  for (const { cylinder, pass } of waiting) drawArc(pen, device, pass, toRadius(cylinder), state.angle, palette.accent, 2.5);
  if (state.pass >= 0) {
    const radius = toRadius(device.col.cylinder[state.pass]);
    drawArc(pen, device, state.pass, radius, state.angle, palette["c-transfer"], 5);
  }
  const [head, pivot] = [toRadius(state.cylinder), [size * 0.49, size * 0.4]];
  if (state.interpolated) {
    pen.setLineDash([4, 4]);
    strokeLine(pen, palette["c-seek"], 3, [toRadius(state.from), 0, toRadius(state.to), 0]);
  }
  strokeLine(pen, palette.ink, 2.5, [...pivot, head, 0]);
  pen.setLineDash([]);
  drawDot(pen, phaseColour(state.phase), head, 0, 5);
  drawDot(pen, palette.ink, head, 0, 5, true);
  drawDot(pen, palette.ink, ...pivot, 5);
  pen.restore();
  drawText(pen, state.phase, width / 2 - size / 2 + 4, height / 2 - size / 2 + 10, "left", palette.ink);
  if (state.interpolated) drawText(pen, "arm interpolated", width / 2 + size / 2 - 4, height / 2 - size / 2 + 10, "right");
}
