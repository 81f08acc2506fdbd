import { drawText, fillBox, makeCanvas, paint } from "./canvas.js";
import { accessPhases } from "./motion.js";
import { buildLane, rowAt, rowsBetween, sharesBetween } from "./lanes.js";
import { formatMs, formatTick } from "./text.js";
import { causeColour, palette, phaseColour } from "./theme.js";

const MOST_WITH_PHASES = 80;
const [LABEL, PHASES, AXIS, SIDE, OUTER] = [18, 16, 20, 8, 32];
const clamp = (value, low, high) => Math.min(high, Math.max(low, value));

function drawTicks(pen, [from, to], toX, width, bottom) {
  const enough = (to - from) / Math.max(2, width / 120);
  const power = 10 ** Math.floor(Math.log10(enough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((size) => size >= enough) ?? 10 * power;
  for (let i = Math.ceil(from / step); i * step <= to; i++) {
    const x = toX(i * step);
    fillBox(pen, palette.line, 1, [x, 0, 1, bottom]);
    const align = x < 40 ? "left" : x > width - 40 ? "right" : "center";
    drawText(pen, palette.muted, formatTick(i * step, step), x, bottom + AXIS / 2, align);
  }
}

// Draws the requests in service as stacked bars of one pixel; as high as the lane where most are in service.
function drawBars(pen, lane, [from, to], width, top, tall) {
  const [cells, causes] = [Math.max(1, Math.round(width - 2 * SIDE)), lane.causes.length];
  const [shares, floor] = [sharesBetween(lane, from, to, cells), new Float32Array(cells)];
  for (let i = 0; i < shares.length; i++) floor[Math.floor(i / causes)] += shares[i];
  const scale = tall / floor.reduce((most, share) => Math.max(most, share), 1);
  floor.fill(top + tall);
  lane.causes.forEach((cause, c) => {
    pen.fillStyle = causeColour(cause);
    pen.beginPath();
    for (let cell = 0; cell < cells; cell++) {
      const high = shares[cell * causes + c] * scale;
      if (high > 0) pen.rect(SIDE + cell, floor[cell] -= high, 1, high);
    }
    pen.fill();
  });
}

// Draws what the mechanism did, to the ns, below the bars: a line an axis.
function drawPhases(pen, { device, run, rows }, toX, top, [first, end]) {
  (device.role === "sled" ? [device.x, device.y] : [null]).forEach((axis, j) => {
    for (const row of rows.subarray(first, end)) {
      const toPixel = (s) => toX(run.col.start_ns[row] + s * 1e9);
      const phases = run.accessOf[row] < 0 ? [] : accessPhases(device, run.accessOf[row], axis);
      for (const [from, to, word] of phases) {
        fillBox(pen, phaseColour(word), 1, [toPixel(from), top + 6 * j, toPixel(to) - toPixel(from), 5]);
      }
    }
  });
}

function drawSelected(pen, lane, row, toX, top, tall) {
  const { arrival_ns: arrival, completion_ns: completion } = lane.run.col;
  const [came, begun, done] = [arrival[row], lane.begin[lane.rows.indexOf(row)], completion[row]].map(toX);
  fillBox(pen, palette["c-queue"], 1, [came, top - 4, begun - came, 3]);
  Object.assign(pen, { strokeStyle: palette.ink, lineWidth: 2 });
  if (done > begun) pen.strokeRect(begun, top, done - begun, tall);
}

/** Makes the time line of all runs: an overview and a zoomed window, one lane a device. */
export function makeTimeline(app, onSeek, onSelect) {
  const { runs, end } = app;
  const [overview, zoomed, frame] = ["overview", "zoomed", "shown"].map((id) => document.getElementById(id));
  const lanes = runs.flatMap((run) =>
    run.devices.filter((device) => device.rowsHere.length).map((device) => buildLane(run, device)));
  const outer = runs.map((run) => lanes.find((lane) => lane.run === run)).filter(Boolean);
  const tall = lanes.length > 6 ? 22 : lanes.length > 2 ? 32 : 48;
  const pitch = LABEL + tall + PHASES;
  const shown = [0, clamp(16 * end / Math.max(1, runs[0].hostRows.length), 1, end)];
  let [canvases, widths, drawnKey] = [[overview, zoomed], [1, 1], ""];
  overview.style.height = `${outer.length * OUTER + AXIS + 4}px`;
  frame.style.height = `${outer.length * OUTER + 2}px`;
  zoomed.style.height = `${lanes.length * pitch + AXIS}px`;
  canvases.forEach((canvas) => makeCanvas("line", "Time by cause", canvas));

  const rangeOf = (canvas) => (canvas === overview ? [0, end] : shown);
  const scale = (canvas, width) => (t) => {
    const [from, to] = rangeOf(canvas);
    return SIDE + clamp((t - from) / (to - from), 0, 1) * (width - 2 * SIDE);
  };

  function drawOverview(pen, width) {
    widths[0] = width;
    drawTicks(pen, [0, end], scale(overview, width), width, outer.length * OUTER + 3);
    outer.forEach((lane, i) => drawBars(pen, lane, [0, end], width, 3 + OUTER * i, OUTER - 4));
  }

  function drawZoomed(pen, width) {
    const [toX, { run, row }] = [scale(zoomed, width), app.selected];
    widths[1] = width;
    drawTicks(pen, shown, toX, width, lanes.length * pitch);
    lanes.forEach((lane, i) => {
      const [top, range] = [i * pitch + LABEL, rowsBetween(lane, ...shown)];
      const name = runs.length > 1 ? `${lane.run.name}: ${lane.device.name}` : lane.device.name;
      fillBox(pen, palette.panel, 1, [SIDE - 2, top - LABEL + 2, pen.measureText(name).width + 4, LABEL - 6]);
      drawText(pen, palette.ink, name, SIDE, top - LABEL / 2 - 1);
      fillBox(pen, palette.ground, 1, [SIDE, top, width - 2 * SIDE, tall]);
      drawBars(pen, lane, shown, width, top, tall);
      if (range[1] - range[0] <= MOST_WITH_PHASES) drawPhases(pen, lane, toX, top + tall + 2, range);
      const selected = lane.run.index === run && lane.run.col.device[row] === lane.device.index;
      if (selected) drawSelected(pen, lane, row, toX, top, tall);
    });
  }

  function timeAt(canvas, event) {
    const [[from, to], box] = [rangeOf(canvas), canvas.getBoundingClientRect()];
    return from + clamp((event.clientX - box.left - SIDE) / (box.width - 2 * SIDE), 0, 1) * (to - from);
  }

  // A press moves in time, a drag goes on with that, a click on the lower picture selects a request as well.
  for (const canvas of canvases) {
    let pressed = 0;
    canvas.addEventListener("pointerdown", (event) => {
      pressed = event.clientX;
      canvas.setPointerCapture(event.pointerId);
      onSeek(timeAt(canvas, event), false);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (canvas.hasPointerCapture(event.pointerId)) onSeek(timeAt(canvas, event), false);
    });
    canvas.addEventListener("click", (event) => {
      onSeek(app.t);
      if (canvas === overview || Math.abs(event.clientX - pressed) > 3) return;
      const lane = lanes[clamp(Math.floor(event.offsetY / pitch), 0, lanes.length - 1)];
      onSelect(lane.run.index, rowAt(lane, timeAt(zoomed, event)));
    });
  }

  function show(from, span) {
    const wide = Math.min(end, Math.max(1000, span));
    shown[0] = clamp(from, 0, end - wide);
    shown[1] = shown[0] + wide;
  }

  return {
    /** Zooms about the present instant: a factor below 1 shows less time. */
    zoom: (factor) => show(app.t - (app.t - shown[0]) * factor, (shown[1] - shown[0]) * factor),
    /** Draws what changed, as one turns pages; the marks of the present instant move alone. */
    draw(force) {
      const span = shown[1] - shown[0];
      if (app.t < shown[0] || app.t > shown[1]) show(app.t - span * (app.playing ? 0.02 : 0.3), span);
      const key = [...shown, app.selected.run, app.selected.row].join();
      if (force || !drawnKey) paint(overview, drawOverview);
      if (force || key !== drawnKey) drawnKey = paint(zoomed, drawZoomed) ? key : "";
      const [left, right] = shown.map(scale(overview, widths[0]));
      Object.assign(frame.style, { transform: `translateX(${left}px)`, width: `${Math.max(4, right - left)}px` });
      canvases.forEach((canvas, i) => {
        canvas.nextElementSibling.style.transform = `translateX(${scale(canvas, widths[i])(app.t) - 1}px)`;
      });
    },
    /** Tells the state of both pictures to screen readers. */
    describe: () => canvases.forEach((canvas) => {
      canvas.ariaLabel = `Time by cause, ${rangeOf(canvas).map(formatMs).join(" to ")}; now ${formatMs(app.t)}.`;
    }),
  };
}
