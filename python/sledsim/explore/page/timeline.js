import { adoptCanvas, clearCanvas, drawText } from "./canvas.js";
import { accessPhases } from "./motion.js";
import { buildLane, rowAt, rowsBetween } from "./lanes.js";
import { formatMs, formatTick } from "./text.js";
import { causeColour, palette, phaseColour } from "./theme.js";

const MOST_BARS = 1500;
const MOST_WITH_PHASES = 80;
const LABEL = 18;
const AXIS = 20;
const SIDE = 8;

/** Gives a step between ticks, 1, 2 or 5 times a power of ten, so that about n fit in a span. */
function tickStep(span, n) {
  const power = 10 ** Math.floor(Math.log10(span / n));
  return [1, 2, 5, 10].map((m) => m * power).find((step) => span / step <= n) ?? 10 * power;
}

// Draws bins as stacked steps, one filled outline a cause.
function drawBins(pen, lane, from, to, box) {
  const perPixel = (to - from) / box.width;
  const bins = lane.bins.find(({ count }) => lane.end / count >= perPixel) ?? lane.bins.at(-1);
  const width = lane.end / bins.count;
  const [first, last] = [Math.max(0, Math.floor(from / width)), Math.min(bins.count, Math.ceil(to / width))];
  const floor = new Float32Array(Math.max(0, last - first));
  const toX = (bin) => Math.min(box.left + box.width, Math.max(box.left, box.left + (bin * width - from) / perPixel));
  const toY = (share) => box.top + box.height * (1 - Math.min(1, share / lane.levels));
  lane.causes.forEach((cause, c) => {
    pen.fillStyle = causeColour(cause);
    pen.beginPath();
    for (let i = 0; i < floor.length; i++) {
      const share = bins.shares[(first + i) * lane.causes.length + c];
      if (share <= 0) continue;
      const [low, high, x] = [toY(floor[i]), toY(floor[i] += share), toX(first + i)];
      pen.rect(x, high, toX(first + i + 1) - x + 0.3, low - high);
    }
    pen.fill();
  });
}

function drawBars(pen, lane, from, to, box, [first, end]) {
  const toX = (t) => box.left + Math.min(1, Math.max(0, (t - from) / (to - from))) * box.width;
  const tall = box.height / lane.levels;
  const at = lane.begin.slice(first, end);
  lane.causes.forEach((cause, c) => {
    const column = lane.columns[c];
    pen.fillStyle = causeColour(cause);
    pen.beginPath();
    for (let i = first; i < end; i++) {
      const begin = at[i - first];
      const done = (at[i - first] += column[lane.rows[i]]);
      if (done <= begin || done < from || begin > to) continue;
      pen.rect(toX(begin), box.top + tall * lane.level[i], toX(done) - toX(begin), tall - (lane.levels > 1 ? 1 : 0));
    }
    pen.fill();
  });
  pen.fillStyle = palette.panel;
  for (let i = first; i < end; i++) {
    const wide = toX(lane.run.col.completion_ns[lane.rows[i]]) - toX(lane.begin[i]);
    if (wide > 8) pen.fillRect(toX(lane.begin[i]) - 0.5, box.top + tall * lane.level[i], 1, tall);
  }
}

// Draws what the mechanism did under the bars, to the ns: a line an axis.
function drawPhases(pen, lane, from, to, box, [first, end]) {
  const { device, run } = lane;
  const toX = (t) => box.left + Math.min(1, Math.max(0, (t - from) / (to - from))) * box.width;
  const axes = device.role === "sled" ? [device.x, device.y] : [null];
  axes.forEach((axis, j) => {
    for (let i = first; i < end; i++) {
      const access = run.accessOf[lane.rows[i]];
      if (access < 0) continue;
      for (const [begin, done, word] of accessPhases(device, access, axis)) {
        const x = toX(device.start[access] + begin * 1e9);
        pen.fillStyle = phaseColour(word);
        pen.fillRect(x, box.top + box.height + 2 + 6 * j, toX(device.start[access] + done * 1e9) - x, 5);
      }
    }
  });
}

/** Makes the time line of all runs: an overview and a zoomed window, one lane a device. */
export function makeTimeline(app, overview, zoomed, onSeek, onSelect) {
  const { runs, end } = app;
  const lanes = runs.flatMap((run) =>
    run.devices.filter((device) => device.rowsHere.length > 0).map((device) => buildLane(run, device, end)));
  const outer = runs.map((run) => lanes.find((lane) => lane.run === run)).filter(Boolean);
  const tall = lanes.length > 6 ? 22 : lanes.length > 2 ? 32 : 48;
  const phasesTall = 14;
  const pitch = LABEL + tall + phasesTall + 2;
  const shownRows = Math.max(...runs.map((run) => run.hostRows.length));
  const window_ = { from: 0, to: Math.max(1, Math.min(end, end * 16 / Math.max(1, shownRows))) };
  if (outer[0]?.rows.length) {
    const { start_ns: start } = runs[0].col;
    window_.to = Math.min(end, Math.max(window_.to, start[outer[0].rows[0]] + window_.to));
  }
  overview.style.height = `${outer.length * 32 + AXIS + 4}px`;
  zoomed.style.height = `${lanes.length * pitch + AXIS}px`;
  adoptCanvas(overview, "Whole run");
  adoptCanvas(zoomed, "Part of the run");
  const [marks, drawn] = [[overview, zoomed].map((canvas) => canvas.nextElementSibling), {}];
  const width = (canvas) => Math.max(1, canvas.clientWidth - 2 * SIDE);
  let widths = [1, 1];

  function drawAxis(pen, from, to, box, y) {
    const step = tickStep(to - from, Math.max(2, box.width / 110));
    pen.strokeStyle = palette.line;
    for (let i = Math.ceil(from / step); i * step <= to; i++) {
      const x = box.left + (i * step - from) / (to - from) * box.width;
      pen.fillStyle = palette.line;
      pen.fillRect(x, 0, 1, y);
      const align = x < box.left + 30 ? "left" : x > box.left + box.width - 30 ? "right" : "center";
      drawText(pen, formatTick(i * step, step), x, y + AXIS / 2, align, palette.muted);
    }
  }

  function drawOverview() {
    const sheet = clearCanvas(overview);
    if (!sheet) return;
    const box = { left: SIDE, width: sheet.width - 2 * SIDE, top: 3, height: 28 };
    drawAxis(sheet.pen, 0, end, box, outer.length * 32 + 3);
    outer.forEach((lane, i) => drawBins(sheet.pen, lane, 0, end, { ...box, top: 3 + 32 * i }));
    const x = SIDE + window_.from / end * box.width;
    const wide = Math.max(3, (window_.to - window_.from) / end * box.width);
    sheet.pen.strokeStyle = palette.accent;
    sheet.pen.lineWidth = 2;
    sheet.pen.strokeRect(x, 1, wide, outer.length * 32 + 1);
  }

  function drawZoomed() {
    const sheet = clearCanvas(zoomed);
    if (!sheet) return;
    const { pen } = sheet;
    const { from, to } = window_;
    const box = { left: SIDE, width: sheet.width - 2 * SIDE, height: tall };
    drawAxis(pen, from, to, box, lanes.length * pitch);
    lanes.forEach((lane, i) => {
      box.top = i * pitch + LABEL;
      const range = rowsBetween(lane, from, to);
      const name = runs.length > 1 ? `${lane.run.name}: ${lane.device.name}` : lane.device.name;
      const wide = pen.measureText(name).width;
      pen.fillStyle = palette.panel;
      pen.fillRect(SIDE - 2, box.top - LABEL + 2, wide + 4, LABEL - 3);
      drawText(pen, name, SIDE, box.top - LABEL / 2 + 1, "left", palette.ink);
      pen.fillStyle = palette.ground;
      pen.globalAlpha = 0.6;
      pen.fillRect(box.left, box.top, box.width, tall);
      pen.globalAlpha = 1;
      if (range[1] - range[0] > MOST_BARS) return drawBins(pen, lane, from, to, box);
      drawBars(pen, lane, from, to, box, range);
      if (lane.device.accesses && range[1] - range[0] <= MOST_WITH_PHASES) drawPhases(pen, lane, from, to, box, range);
      return drawSelected(pen, lane, box);
    });
  }

  function drawSelected(pen, lane, box) {
    const { run, row } = app.selected;
    if (run !== lane.run.index || row < 0 || lane.run.col.device[row] !== lane.device.index) return;
    const { arrival_ns: arrival, completion_ns: completion } = lane.run.col;
    const toX = (t) => box.left + Math.min(1, Math.max(0, (t - window_.from) / (window_.to - window_.from))) * box.width;
    if (completion[row] < window_.from || arrival[row] > window_.to) return;
    const i = lane.rows.indexOf(row);
    const levelTall = tall / lane.levels;
    const [x, top] = [toX(lane.begin[i]), box.top + levelTall * lane.level[i]];
    pen.fillStyle = palette["c-queue"];
    pen.fillRect(toX(arrival[row]), box.top - 4, x - toX(arrival[row]), 3);
    pen.strokeStyle = palette.ink;
    pen.lineWidth = 2;
    pen.strokeRect(x, top, Math.max(2, toX(completion[row]) - x), levelTall);
  }

  const timeOf = (canvas, event) => {
    const share = (event.clientX - canvas.getBoundingClientRect().left - SIDE) / width(canvas);
    const [from, to] = canvas === overview ? [0, end] : [window_.from, window_.to];
    return Math.min(end, Math.max(0, from + Math.min(1, Math.max(0, share)) * (to - from)));
  };

  function listen(canvas) {
    let pressed = null;
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      pressed = event.clientX;
      canvas.setPointerCapture(event.pointerId);
      onSeek(timeOf(canvas, event), false);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (pressed === null || Math.abs(event.clientX - pressed) < 3) return;
      pressed = Infinity;
      onSeek(timeOf(canvas, event), false);
    });
    canvas.addEventListener("pointerup", (event) => {
      if (pressed !== null && pressed !== Infinity && canvas === zoomed) selectAt(event);
      else if (pressed !== null) onSeek(timeOf(canvas, event), true);
      pressed = null;
    });
  }

  function selectAt(event) {
    const down = event.clientY - zoomed.getBoundingClientRect().top;
    const lane = lanes[Math.min(lanes.length - 1, Math.floor(down / pitch))];
    const level = Math.floor((down % pitch - LABEL) / (tall / lane.levels));
    const row = rowAt(lane, timeOf(zoomed, event), Math.max(0, Math.min(lane.levels - 1, level)));
    if (row >= 0) onSelect(lane.run.index, row);
  }

  function setWindow(from, span) {
    const wide = Math.min(end, Math.max(Math.min(end, 1000), span));
    window_.from = Math.max(0, Math.min(end - wide, from));
    window_.to = window_.from + wide;
    drawn.key = null;
  }

  listen(overview);
  listen(zoomed);
  return {
    window: window_,
    /** Zooms about the present instant: a factor below 1 shows less time. */
    zoom(factor) {
      const span = (window_.to - window_.from) * factor;
      const inside = app.t >= window_.from && app.t <= window_.to;
      const share = inside ? (app.t - window_.from) / (window_.to - window_.from) : 0.5;
      setWindow(app.t - share * span, span);
    },
    /** Moves the window, if the present instant has left it, as one turns a page. */
    follow(playing) {
      const span = window_.to - window_.from;
      if (app.t >= window_.from && app.t <= window_.to) return;
      setWindow(app.t - span * (playing ? 0.02 : 0.3), span);
    },
    /** Draws what changed; the marks of the present instant move alone. */
    draw(force) {
      const key = [window_.from, window_.to, app.selected.run, app.selected.row, palette.ink].join();
      if (force || key !== drawn.key) {
        widths = [width(overview), width(zoomed)];
        drawOverview();
        drawZoomed();
        drawn.key = key;
      }
      const shares = [app.t / end, (app.t - window_.from) / (window_.to - window_.from)];
      marks.forEach((mark, i) => {
        mark.style.transform = `translateX(${SIDE + Math.min(1, Math.max(0, shares[i])) * widths[i] - 1}px)`;
      });
    },
    /** Tells the state of both pictures to screen readers. */
    describe() {
      const shown = `${formatMs(window_.from)} to ${formatMs(window_.to)}`;
      overview.setAttribute("aria-label", `Whole run by cause, ${formatMs(end)}; now ${formatMs(app.t)}.`);
      zoomed.setAttribute("aria-label", `Requests by cause from ${shown}; now ${formatMs(app.t)}.`);
    },
  };
}
