import { formatClock } from "./text.js";

/** Speeds in time of the model over real time: 1/1000 to 1000. */
export const SPEEDS = [1000, 500, 200, 100, 50, 20, 10, 5, 2].map((n) => 1 / n)
  .concat([1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]);
const SLIDER_KEYS = ["ArrowLeft", "ArrowRight", "Home", "End"];
const [clock, clockOf, timeSlider, speedSlider, speedWords] = ["clock", "of", "time", "speed", "speed-text"]
  .map((id) => document.getElementById(id));

/** Writes a speed: "1/100 of real time", "real time", "20 times real time". */
export const speedText = (speed) =>
  speed === 1 ? "real time" : speed < 1 ? `1/${Math.round(1 / speed)} of real time` : `${speed} times real time`;

/** Binds buttons to actions (data-act), keys to buttons (data-keys), and the sliders for time and speed. */
export function bindControls(actions, app) {
  for (const button of document.querySelectorAll("[data-act]")) {
    button.addEventListener(button.matches("input") ? "change" : "click", () => actions[button.dataset.act]());
  }
  document.addEventListener("keydown", (event) => {
    const [key, at] = [event.key === " " ? "Space" : event.key, event.target];
    const button = document.querySelector(`[data-keys~="${CSS.escape(key)}"]`);
    if (!button || event.ctrlKey || event.altKey || event.metaKey || document.querySelector("dialog[open]")) return;
    if (at.matches?.("input") && SLIDER_KEYS.includes(key)) return;
    if (key === "Space" && at.checkVisibility?.() && at.matches("button, [type=radio], summary")) return;
    event.preventDefault();
    button.click();
  });
  timeSlider.addEventListener("input", () => actions.seek(timeSlider.value / timeSlider.max * app.end));
  speedSlider.addEventListener("input", () => actions.speed(Number(speedSlider.value)));
}

/** Shows the clock and, if full, the sliders, the speed and whether it plays. */
export function showControls(app, full) {
  clock.textContent = formatClock(app.t);
  if (!full) return;
  const words = speedText(SPEEDS[app.speed]);
  clockOf.textContent = `of ${formatClock(app.end)}`;
  timeSlider.value = app.t / app.end * timeSlider.max;
  timeSlider.setAttribute("aria-valuetext", formatClock(app.t));
  speedSlider.value = app.speed;
  speedSlider.setAttribute("aria-valuetext", words);
  speedWords.textContent = words;
  document.querySelector("[data-act=play]").textContent = app.playing ? "Pause" : "Play";
}
