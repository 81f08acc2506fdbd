const canvasSizes = new WeakMap();
let sizeListener = () => {};
const sizeWatcher = new ResizeObserver((entries) => {
  for (const entry of entries) {
    canvasSizes.set(entry.target, [entry.contentRect.width, entry.contentRect.height]);
  }
  sizeListener();
});

/** Calls back after canvases changed their size. */
export function onCanvasResize(listener) {
  sizeListener = listener;
}

/** Makes a canvas that a screen reader takes for an image. */
export function makeCanvas(className, label) {
  const canvas = document.createElement("canvas");
  canvas.className = className;
  return adoptCanvas(canvas, label);
}

/** Makes an image of a canvas of the page, and watches its size. */
export function adoptCanvas(canvas, label) {
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", label);
  sizeWatcher.observe(canvas);
  return canvas;
}

/** Clears a canvas and gives its context, width and height in CSS pixels; null while it has no size. */
export function clearCanvas(canvas) {
  const [width, height] = canvasSizes.get(canvas) ?? [0, 0];
  if (width < 2 || height < 2) return null;
  const ratio = Math.min(2, window.devicePixelRatio || 1);
  const [across, down] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== across || canvas.height !== down) Object.assign(canvas, { width: across, height: down });
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  pen.font = "12px system-ui, sans-serif";
  pen.lineWidth = 1;
  return { pen, width, height };
}

/** Draws a line through points given as [x, y, x, y, ...]. */
export function strokeLine(pen, colour, width, points) {
  pen.strokeStyle = colour;
  pen.lineWidth = width;
  pen.beginPath();
  pen.moveTo(points[0], points[1]);
  for (let i = 2; i < points.length; i += 2) pen.lineTo(points[i], points[i + 1]);
  pen.stroke();
}

/** Draws a dot, filled or as a ring. */
export function drawDot(pen, colour, x, y, radius, ring = false) {
  pen.beginPath();
  pen.arc(x, y, radius, 0, 2 * Math.PI);
  pen.lineWidth = 1.5;
  pen[ring ? "strokeStyle" : "fillStyle"] = colour;
  pen[ring ? "stroke" : "fill"]();
}

/** Draws an arrow from (x, y) along (dx, dy), pixels; nothing if it is shorter than 3 pixels. */
export function drawArrow(pen, colour, x, y, dx, dy) {
  const length = Math.hypot(dx, dy);
  if (length < 3) return;
  const [ux, uy, head] = [dx / length, dy / length, Math.min(8, length)];
  const [tx, ty] = [x + dx, y + dy];
  strokeLine(pen, colour, 2, [x, y, tx, ty]);
  const [bx, by] = [tx - ux * head, ty - uy * head];
  strokeLine(pen, colour, 2, [bx - uy * head / 2, by + ux * head / 2, tx, ty, bx + uy * head / 2, by - ux * head / 2]);
}

/** Writes a text in a canvas: align is left, center or right; the height is that of its middle. */
export function drawText(pen, text, x, y, align = "left", colour = null) {
  if (colour) pen.fillStyle = colour;
  pen.textAlign = align;
  pen.textBaseline = "middle";
  pen.fillText(text, x, y);
}
