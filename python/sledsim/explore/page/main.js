import { onCanvasResize } from "./canvas.js";
import { SPEEDS, bindControls, showControls, speedText } from "./controls.js";
import { makeDevices } from "./devices.js";
import { diskState, sledState } from "./motion.js";
import { buildRun, decodePayload } from "./payload.js";
import { choiceByIndex, explainChoice, makeQueue } from "./queue.js";
import { makeRowPanel } from "./row.js";
import { lastAtOrBefore } from "./search.js";
import { stepChoice, stepEvent, stepRequest } from "./steps.js";
import { formatMs, make, rowAsks, rowName } from "./text.js";
import { causeWord, orderCauses, readPalette, switchTheme } from "./theme.js";
import { makeTimeline } from "./timeline.js";

const TEXT_EVERY_MS = 200;
const app = { runs: [], t: 0, end: 1, speed: SPEEDS.indexOf(0.01), playing: false, run: 0, selected: { run: 0, row: -1 } };
const element = (id) => document.getElementById(id);
const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve));
const views = [];
const frameCosts = [];
let timeline = null;
let rowPanel = null;
let [lastFrame, lastText] = [0, 0];

function showHead(head) {
  document.title = head.title;
  element("title").textContent = head.title;
  element("notes").replaceChildren(...head.notes.map((note) => make("p", {}, note)));
  element("version").textContent = `sledsim ${head.version}`;
  const causes = orderCauses([...new Set(head.runs.flatMap((run) => run.causes))]);
  element("legend").replaceChildren(...causes.map((cause) =>
    make("li", {}, make("i", { class: `swatch cause-${cause}` }), causeWord(cause))));
  const several = head.runs.length > 1;
  element("pick").hidden = !several;
  head.runs.slice(0, 2).forEach((run, i) => (element(`run-name-${i + 1}`).textContent = run.name));
  element("runs").classList.toggle("two", several);
}

function buildViews() {
  for (const run of app.runs) {
    const [devices, queue] = [makeDevices(run), makeQueue(run, select)];
    const about = `${run.device}, ${run.scheduler}, ${run.load}: ${run.hostRows.length.toLocaleString("en")} requests`;
    element("runs").append(make("article", { class: "run" }, make("h3", {}, run.name), make("p", { class: "muted" }, about),
      make("div", { class: "run-body" }, devices.element, queue.element)));
    views.push({ devices, queue });
  }
  timeline = makeTimeline(app, element("overview"), element("zoomed"), seekTo, select);
  rowPanel = makeRowPanel(element("row"));
}

function draw(full, force = false) {
  const begun = performance.now();
  timeline.follow(app.playing);
  timeline.draw(force);
  const texts = full || begun - lastText > TEXT_EVERY_MS;
  if (texts) lastText = begun;
  for (const { devices, queue } of views) {
    devices.draw(app.t);
    if (!texts) continue;
    devices.describe(app.t, full);
    queue.describe(app.t);
  }
  showControls(app, texts);
  if (full) timeline.describe();
  frameCosts.push(performance.now() - begun);
  if (frameCosts.length > 2000) frameCosts.shift();
}

function playFrame(now) {
  if (!app.playing) return;
  app.t = Math.min(app.end, app.t + Math.min(100, now - lastFrame) * 1e6 * SPEEDS[app.speed]);
  lastFrame = now;
  if (app.t >= app.end) app.playing = false;
  draw(!app.playing);
  if (app.playing) requestAnimationFrame(playFrame);
}

function setPlaying(on) {
  app.playing = on;
  if (on && app.t >= app.end) app.t = 0;
  if (!on) return seekTo(app.t);
  draw(true);
  return requestAnimationFrame((now) => {
    lastFrame = now;
    playFrame(now);
  });
}

/** Moves all runs to a time (ns); full also tells it to screen readers. */
function seekTo(t, full = true) {
  app.t = Math.min(app.end, Math.max(0, t));
  if (full) followTime();
  draw(full && !app.playing);
}

// Shows the request of the host that was taken up last.
function followTime() {
  const run = app.runs[app.run];
  const row = run.hostRows[lastAtOrBefore(run.hostStart, app.t)];
  if (row === undefined || (app.selected.run === app.run && app.selected.row === row)) return;
  app.selected = { run: app.run, row };
  rowPanel.show(run, row, app.runs.length > 1);
}

/** Selects a row of a run and shows all about it. */
function select(run, row) {
  app.selected = { run, row };
  rowPanel.show(app.runs[run], row, app.runs.length > 1);
  pickRun(run);
  draw(!app.playing);
}

function pickRun(run) {
  if (run >= app.runs.length) return;
  app.run = run;
  for (const radio of document.querySelectorAll("input[name=run]")) radio.checked = Number(radio.value) === run + 1;
  [...element("runs").children].forEach((article, i) => article.classList.toggle("picked", i === run && app.runs.length > 1));
}

function tell(text) {
  element("live").textContent = text;
}

function stepBy(find, words, direction) {
  app.playing = false;
  const run = app.runs[app.run];
  const found = find(run, app.t, direction);
  if (found === null) {
    draw(true);
    return tell(`No ${direction > 0 ? "later" : "earlier"} ${words}.`);
  }
  const time = typeof found === "number" ? found : found.time;
  seekTo(time);
  if (found.device) {
    const choice = explainChoice(run, found.device, found.i);
    select(app.run, choice.row);
    return tell(`Choice at ${formatMs(time)}: ${rowName(run, choice.row)}, ${choice.why}.`);
  }
  if (found.row === undefined) return tell(`${words} at ${formatMs(time)}. ${whatHappens(run)}`);
  select(app.run, found.row);
  return tell(`${rowName(run, found.row)}, ${rowAsks(run, found.row)}, starts at ${formatMs(time)}.`);
}

function whatHappens(run) {
  return run.devices.filter((device) => device.accesses > 0).map((device) => {
    const state = stateOf(run, device, app.t);
    const does = device.role === "sled" ? `X ${state.x_phase}, Y ${state.y_phase}` : state.phase;
    return `${device.name}: ${does}.`;
  }).join(" ");
}

const stateOf = (run, device, t) => (device.role === "sled" ? sledState(device, t) : diskState(run, device, t));

function setSpeed(speed) {
  app.speed = Math.min(SPEEDS.length - 1, Math.max(0, speed));
  showControls(app, true);
  tell(speedText(SPEEDS[app.speed]));
}

function zoomBy(factor) {
  timeline.zoom(factor);
  draw(!app.playing);
}

const actions = {
  play: () => setPlaying(!app.playing),
  seek: (t) => seekTo(t),
  speed: setSpeed,
  faster: () => setSpeed(app.speed + 1),
  slower: () => setSpeed(app.speed - 1),
  home: () => seekTo(0),
  end: () => seekTo(app.end),
  "zoom-in": () => zoomBy(0.5),
  "zoom-out": () => zoomBy(2),
  "run-1": () => pickRun(0),
  "run-2": () => pickRun(1),
  keys: () => element("keys").showModal(),
  "close-keys": () => element("keys").close(),
  theme() {
    switchTheme();
    if (timeline) draw(!app.playing, true);
  },
};
for (const [name, find, words] of [["event", stepEvent, "Event"], ["request", stepRequest, "Request"], ["choice", stepChoice, "Choice"]]) {
  actions[name] = () => stepBy(find, words, 1);
  actions[`${name}-back`] = () => stepBy(find, words, -1);
}

/** Shows the page's frame, decodes the data, builds all views. */
async function startPage() {
  const head = JSON.parse(element("head").textContent);
  readPalette();
  showHead(head);
  await nextFrame();
  await nextFrame();
  const buffer = await decodePayload(element("data").textContent);
  app.runs = head.runs.map((run, i) => buildRun(run, buffer, i));
  app.end = Math.max(1, ...app.runs.map((run) => run.end_ns));
  buildViews();
  bindControls(actions, app);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    readPalette();
    draw(!app.playing, true);
  });
  window.sledsim.runs = app.runs;
  element("loading").remove();
  document.body.classList.remove("loading");
  await nextFrame();
  onCanvasResize(() => draw(!app.playing, true));
  const first = app.runs[0].hostRows[0] ?? 0;
  if (app.runs[0].rows) select(0, first);
  pickRun(0);
  draw(true, true);
  if (head.at_ns > 0) seekTo(head.at_ns);
}

// For tests: states in SI units, times in ns, rows and devices by index.
window.sledsim = {
  runs: [],
  frameCosts,
  state: (run, device, t) => stateOf(app.runs[run], app.runs[run].devices[device], t),
  seek: (t) => seekTo(t),
  now: () => app.t,
  speed: (share) => setSpeed(SPEEDS.indexOf(share)),
  select,
  choice: (run, index) => choiceByIndex(app.runs[run], index),
};
window.sledsim.ready = startPage().catch((error) => {
  element("loading").textContent = `The data cannot be read: ${error.message}`;
  throw error;
});
