import { onCanvasResize } from "./canvas.js";
import { SPEEDS, bindControls, showControls, speedText } from "./controls.js";
import { makeDevices, stateOf } from "./devices.js";
import { buildRun, decodePayload } from "./payload.js";
import { choiceByIndex, explainChoice, makeQueue } from "./queue.js";
import { showRow } from "./row.js";
import { lastAtOrBefore } from "./search.js";
import { stepChoice, stepEvent, stepRequest } from "./steps.js";
import { countOf, formatMs, make, rowAsks, rowName, swatch } from "./text.js";
import { causeWord, orderCauses, readPalette, switchTheme } from "./theme.js";
import { makeTimeline } from "./timeline.js";

const [TEXT_EVERY_MS, LONGEST_FRAME_MS, KEPT_FRAMES] = [400, 100, 2000];
const frameCosts = [];
const app = { runs: [], t: 0, end: 1, speed: 3, playing: false, run: 0, selected: { run: 0, row: -1 } };
const byId = (id) => document.getElementById(id);
const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve));
let [views, timeline, lastFrame, lastText, plays] = [[], null, 0, 0, 0];

function showHead({ title, notes, version, runs }) {
  document.title = byId("title").textContent = title;
  byId("notes").replaceChildren(...notes.map((note) => make("p", {}, note)));
  byId("version").textContent = `sledsim ${version}`;
  const causes = orderCauses([...new Set(runs.flatMap((run) => run.causes))]);
  byId("legend").replaceChildren(...causes.map((cause) => make("li", {}, swatch(cause), causeWord(cause))));
  byId("pick").hidden = runs.length < 2;
  runs.forEach((run, i) => (byId(`run-name-${i + 1}`).textContent = run.name));
  byId("runs").classList.toggle("two", runs.length > 1);
}

function buildViews() {
  for (const run of app.runs) {
    const [devices, queue] = [makeDevices(run), makeQueue(run, select)];
    const about = `${run.device}, ${run.scheduler}, ${run.load}: ${countOf(run.hostRows.length, "request")}`;
    byId("runs").append(make("article", { class: "run" }, make("h3", {}, run.name), make("p", { class: "muted" }, about),
      make("div", { class: "run-body" }, devices.element, queue.element)));
    views.push({ devices, queue });
  }
  timeline = makeTimeline(app, seekTo, select);
}

// Draws the present instant; full also tells it to screen readers, force draws what did not change.
function draw(full = !app.playing, force = false) {
  const begun = performance.now();
  const texts = full || begun - lastText > TEXT_EVERY_MS;
  timeline.draw(force);
  for (const { devices, queue } of views) {
    devices.draw(app.t);
    if (texts) [devices, queue].forEach((view) => view.describe(app.t, full));
  }
  showControls(app, texts);
  if (full) timeline.describe();
  if (texts) lastText = performance.now();
  frameCosts.push(performance.now() - begun);
  if (frameCosts.length > KEPT_FRAMES) frameCosts.shift();
}

function setPlaying(on) {
  const play = ++plays;
  Object.assign(app, { playing: on, t: on && app.t >= app.end ? 0 : app.t });
  if (!on) return seekTo(app.t);
  draw(true);
  lastFrame = performance.now();
  const frame = (now) => {
    if (play !== plays || !app.playing) return;
    const real = Math.min(LONGEST_FRAME_MS, Math.max(0, now - lastFrame));
    app.t = Math.min(app.end, app.t + real * 1e6 * SPEEDS[app.speed]);
    app.playing = app.t < app.end;
    lastFrame = now;
    draw(!app.playing);
    requestAnimationFrame(frame);
  };
  return requestAnimationFrame(frame);
}

function seekTo(t) {
  app.t = Math.min(app.end, Math.max(0, t));
  followTime();
  draw();
}

// Shows the request of the host that was taken up last.
function followTime() {
  const run = app.runs[app.run];
  const row = run.hostRows[lastAtOrBefore(run.hostStart, app.t)];
  if (row === undefined || (app.selected.run === app.run && app.selected.row === row)) return;
  app.selected = { run: app.run, row };
  showRow(run, row, app.runs.length > 1);
}

function select(run, row) {
  app.selected = { run, row };
  showRow(app.runs[run], row, app.runs.length > 1);
  pickRun(run);
  draw();
}

function pickRun(run) {
  if (run >= app.runs.length) return;
  app.run = run;
  byId(`run-${run + 1}`).checked = true;
  [...byId("runs").children].forEach((part, i) => part.classList.toggle("picked", i === run && app.runs.length > 1));
}

const tell = (text) => (byId("live").textContent = text);
function stepBy(find, words, direction) {
  const run = app.runs[app.run];
  const found = find(run, app.t, direction);
  app.playing = false;
  seekTo(found ? found.time : app.t);
  if (!found) return tell(`No ${direction > 0 ? "later" : "earlier"} ${words}.`);
  const choice = found.device && explainChoice(run, found.device, found.i);
  const row = choice ? choice.row : found.row;
  if (row !== undefined) select(app.run, row);
  if (choice) return tell(`Choice at ${formatMs(found.time)}: ${rowName(run, row)}, ${choice.why}.`);
  if (row !== undefined) return tell(`${rowName(run, row)}, ${rowAsks(run, row)}, starts at ${formatMs(found.time)}.`);
  const does = run.devices.filter((device) => device.accesses).map((device) => {
    const { x_phase: x, y_phase: y, phase } = stateOf(run, device, app.t);
    return `${device.name} ${phase ?? `${x} in X, ${y} in Y`}`;
  });
  return tell(`At ${formatMs(found.time)}: ${does.join("; ")}.`);
}

function setSpeed(speed) {
  showControls(Object.assign(app, { speed: Math.min(SPEEDS.length - 1, Math.max(0, speed)) }), true);
  tell(speedText(SPEEDS[app.speed]));
}

const actions = {
  play: () => setPlaying(!app.playing), seek: seekTo, home: () => seekTo(0), end: () => seekTo(app.end),
  speed: setSpeed, faster: () => setSpeed(app.speed + 1), slower: () => setSpeed(app.speed - 1),
  "zoom-in": () => draw(timeline.zoom(0.5)), "zoom-out": () => draw(timeline.zoom(2)),
  "run-1": () => pickRun(0), "run-2": () => pickRun(1), theme: () => draw(switchTheme(), true),
  keys: () => byId("keys").showModal(), "close-keys": () => byId("keys").close(),
};
for (const [name, find] of Object.entries({ event: stepEvent, request: stepRequest, choice: stepChoice })) {
  actions[name] = () => stepBy(find, name, 1);
  actions[`${name}-back`] = () => stepBy(find, name, -1);
}

// Shows the page's frame, decodes the data, builds all views.
async function startPage() {
  const head = JSON.parse(byId("head").textContent);
  readPalette();
  showHead(head);
  for (let i = 0; i < 2; i++) await nextFrame();
  const buffer = await decodePayload(byId("data").textContent);
  head.runs.forEach((run, i) => app.runs.push(buildRun(run, buffer, i)));
  app.end = Math.max(1, ...app.runs.map((run) => run.end_ns));
  buildViews();
  bindControls(actions, app);
  document.body.classList.remove("loading");
  await nextFrame();
  onCanvasResize(() => draw(undefined, true));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => draw(readPalette(), true));
  if (app.runs[0].rows) select(0, app.runs[0].hostRows[0] ?? 0);
  draw(true, true);
  if (head.at_ns > 0) seekTo(head.at_ns);
}

// For tests: states in SI units, times in ns, runs, devices and rows by index.
window.sledsim = {
  runs: app.runs, seek: seekTo, now: () => app.t, select, frameCosts, speed: (share) => setSpeed(SPEEDS.indexOf(share)),
  state: (run, device, t) => stateOf(app.runs[run], app.runs[run].devices[device], t),
  choice: (run, index) => choiceByIndex(app.runs[run], index),
  ready: startPage(),
};
window.sledsim.ready.catch((error) => (byId("loading").textContent = `The data cannot be read: ${error.message}`));
