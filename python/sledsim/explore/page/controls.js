import { formatMs } from "./text.js";

/** Speeds in time of the model over real time: 1/1000 to 1000. */
export const SPEEDS = [];
for (let power = -3; power <= 3; power++) {
  for (const m of power < 3 ? [1, 2, 5] : [1]) SPEEDS.push(Number((m * 10 ** power).toPrecision(1)));
}

const KEYS = {
  " ": "play", ArrowLeft: "event-back", ArrowRight: "event", "[": "request-back", "]": "request",
  ",": "choice-back", ".": "choice", "+": "faster", "=": "faster", "-": "slower", Home: "home", End: "end",
  i: "zoom-in", o: "zoom-out", 1: "run-1", 2: "run-2", t: "theme", "?": "keys",
};
const OWN_KEYS = ["ArrowLeft", "ArrowRight", "Home", "End"];

/** Writes a speed: "1/100 of real time", "real time", "20 times real time". */
export function speedText(speed) {
  if (speed === 1) return "real time";
  return speed < 1 ? `1/${Math.round(1 / speed)} of real time` : `${speed} times real time`;
}

/** Binds buttons (data-act) and keys to actions by their names, and the sliders for time and speed. */
export function bindControls(actions, app) {
  const act = (name) => actions[name]?.();
  for (const button of document.querySelectorAll("button[data-act]")) {
    button.addEventListener("click", () => act(button.dataset.act));
  }
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || document.querySelector("dialog[open]")) return;
    const at = event.target;
    if (at.matches?.("input, select") && OWN_KEYS.includes(event.key)) return;
    if (event.key === " " && at.matches?.("button, input[type=radio], summary")) return;
    const name = KEYS[event.key];
    if (!name) return;
    event.preventDefault();
    act(name);
  });
  const [time, speed] = [document.getElementById("time"), document.getElementById("speed")];
  time.addEventListener("input", () => actions.seek(Number(time.value) / 10000 * app.end));
  // Else the keys would go to a button that is no longer shown.
  document.getElementById("keys").addEventListener("close", () => document.activeElement?.blur());
  speed.max = String(SPEEDS.length - 1);
  speed.addEventListener("input", () => actions.speed(Number(speed.value)));
  for (const radio of document.querySelectorAll("input[name=run]")) {
    radio.addEventListener("change", () => act(`run-${radio.value}`));
  }
}

/** Shows the clock, the speed and whether it plays; full also where a frame need not. */
export function showControls(app, full) {
  const byId = (id) => document.getElementById(id);
  byId("clock").firstChild.data = `${(app.t / 1e6).toFixed(3)} ms`;
  if (!full) return;
  byId("of").textContent = `of ${formatMs(app.end)}`;
  const time = byId("time");
  time.value = String(app.t / app.end * 10000);
  time.setAttribute("aria-valuetext", formatMs(app.t));
  const [speed, text] = [byId("speed"), speedText(SPEEDS[app.speed])];
  speed.value = String(app.speed);
  speed.setAttribute("aria-valuetext", text);
  byId("speed-text").textContent = text;
  const play = document.querySelector("[data-act=play]");
  const word = app.playing ? "Pause" : "Play";
  if (play.textContent !== word) play.textContent = word;
}
