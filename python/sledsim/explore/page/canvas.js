const canvasSizes = new WeakMap();
let sizeListener = () => {};
const sizeWatcher = new ResizeObserver((entries) => {
  for (const { target, contentRect: { width, height } } of entries) canvasSizes.set(target, [width, height]);
  sizeListener();
});

/** Calls back after canvases changed their size. */
export const onCanvasResize = (listener) => (sizeListener = listener);

/** Makes a canvas, or takes one of the page, and tells it to screen readers as an image. */
export function makeCanvas(className, label, canvas = document.createElement("canvas")) {
  Object.assign(canvas, { className, role: "img", ariaLabel: label });
  sizeWatcher.observe(canvas);
  return canvas;
}

/** Clears a canvas and calls draw(pen, width, height, ...more), in CSS pixels; false while it has no size. */
export function paint(canvas, draw, ...more) {
  const [width, height] = canvasSizes.get(canvas) ?? [0, 0];
  if (width < 2 || height < 2) return false;
  const ratio = Math.min(2, window.devicePixelRatio || 1);
  const [across, down] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== across || canvas.height !== down) Object.assign(canvas, { width: across, height: down });
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  pen.font = "12px system-ui, sans-serif";
  draw(pen, width, height, ...more);
  return true;
}

/** Draws a line through points given as [x, y, x, y, ...], dashed if a pattern is given. */
export function strokeLine(pen, colour, width, points, dash = []) {
  Object.assign(pen, { strokeStyle: colour, lineWidth: width });
  pen.setLineDash(dash);
  pen.beginPath();
  for (let i = 0; i < points.length; i += 2) pen.lineTo(points[i], points[i + 1]);
  pen.stroke();
  pen.setLineDash([]);
}

/** Draws the outline of a square given by its centre and half its side. */
export function strokeSquare(pen, colour, width, x, y, half, dash) {
  const [left, right, top, bottom] = [x - half, x + half, y - half, y + half];
  strokeLine(pen, colour, width, [left, top, right, top, right, bottom, left, bottom, left, top], dash);
}

/** Fills a box [left, top, width, height]. */
export function fillBox(pen, colour, alpha, box) {
  Object.assign(pen, { fillStyle: colour, globalAlpha: alpha });
  pen.fillRect(...box);
  pen.globalAlpha = 1;
}

/** Draws a dot, filled or as a ring. */
export function drawDot(pen, colour, x, y, radius, ring = false) {
  pen.beginPath();
  pen.arc(x, y, radius, 0, 2 * Math.PI);
  Object.assign(pen, { lineWidth: 1.5, [ring ? "strokeStyle" : "fillStyle"]: colour });
  pen[ring ? "stroke" : "fill"]();
}

/** Draws an arrow from (x, y) along (dx, dy), pixels, no longer than most; nothing below 2 pixels. */
export function drawArrow(pen, colour, x, y, dx, dy, most) {
  const [full, angle] = [Math.hypot(dx, dy), Math.atan2(dy, dx)];
  if (full < 2) return;
  const end = [x + Math.cos(angle) * Math.min(full, most), y + Math.sin(angle) * Math.min(full, most)];
  const side = (turn) => [end[0] - 8 * Math.cos(angle + turn), end[1] - 8 * Math.sin(angle + turn)];
  strokeLine(pen, colour, 2.5, [x, y, ...end, ...side(0.5), ...end, ...side(-0.5)]);
}

/** Writes a text in a canvas: align is left, center or right; y is the height of its middle. */
export function drawText(pen, colour, text, x, y, textAlign = "left") {
  Object.assign(pen, { fillStyle: colour, textAlign, textBaseline: "middle" });
  pen.fillText(text, x, y);
}
