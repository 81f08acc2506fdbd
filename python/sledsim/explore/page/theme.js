/** Colours by their names in the style sheet, read anew when the theme changes. */
export const palette = {};
const NAMES = ["ink", "muted", "line", "panel", "ground", "accent"];

/** The exclusive causes in the order in which a bar shows them: name, words. */
export const CAUSE_WORDS = {
  queue: "Waits in the queue", overhead: "Command", seek: "Seek", head_switch: "Head switch",
  rotation: "Rotation", transfer: "Transfer", bus: "Bus", retry: "Retry", other: "Other",
};
const PHASE_COLOURS = {
  waits: "queue", rests: "queue", moves: "seek", settles: "bus", "turns around": "overhead",
  passes: "transfer", "starts up": "other", "spins up": "other", seeks: "seek",
  "switches head": "head_switch", "waits for the sector": "rotation",
};

/** Reads the colours of the theme now shown. */
export function readPalette() {
  const style = getComputedStyle(document.documentElement);
  const read = (name) => style.getPropertyValue(`--${name}`).trim();
  for (const name of NAMES) palette[name] = read(name);
  for (const name of Object.keys(CAUSE_WORDS)) palette[`c-${name}`] = read(`c-${name}`);
}

/** Gives the colour of a cause by its name. */
export const causeColour = (cause) => palette[`c-${cause}`] ?? palette["c-other"];

/** Gives the colour of a phase by its word. */
export const phaseColour = (phase) => causeColour(PHASE_COLOURS[phase] ?? "other");

/** Gives the causes of a run in the order of a bar; those after "queue" and "overhead" are service. */
export function orderCauses(causes) {
  const order = Object.keys(CAUSE_WORDS);
  const rank = (cause) => (order.indexOf(cause) + order.length + 1) % (order.length + 1);
  return [...causes].sort((a, b) => rank(a) - rank(b));
}

/** Names a cause in words. */
export const causeWord = (cause) => CAUSE_WORDS[cause] ?? cause.replaceAll("_", " ");

/** Changes the theme: dark to light or back, whatever the system prefers. */
export function switchTheme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  root.dataset.theme = dark === "dark" ? "light" : "dark";
  readPalette();
  return root.dataset.theme;
}
