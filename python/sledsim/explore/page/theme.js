/** Colours by their names in the style sheet, read anew when the theme changes. */
export const palette = {};
/** The exclusive causes in the order in which they are told: name, words. */
export const CAUSE_WORDS = {
  overhead: "Command", queue: "Queue", seek: "Seek", head_switch: "Head switch", rotation: "Rotation",
  transfer: "Transfer", bus: "Bus", retry: "Retry", other: "Other",
};
const PHASE_CAUSES = {
  waits: "queue", rests: "queue", moves: "seek", settles: "bus", "turns around": "overhead", passes: "transfer",
  "starts up": "other", "spins up": "other", seeks: "seek", "switches head": "head_switch",
  "waits for the sector": "rotation",
};

/** Reads the colours of the theme now shown. */
export function readPalette() {
  const probe = document.body.appendChild(document.createElement("i"));
  const causes = Object.keys(CAUSE_WORDS).map((cause) => `c-${cause}`);
  for (const name of ["ink", "muted", "line", "panel", "ground", "accent", ...causes]) {
    probe.style.color = `var(--${name})`;
    palette[name] = getComputedStyle(probe).color;
  }
  probe.remove();
}

/** Gives the colour of a cause by its name. */
export const causeColour = (cause) => palette[`c-${cause}`] ?? palette["c-other"];
/** Gives the colour of a phase by its word. */
export const phaseColour = (phase) => causeColour(PHASE_CAUSES[phase]);
/** Names a cause in words. */
export const causeWord = (cause) => CAUSE_WORDS[cause] ?? cause.replaceAll("_", " ");

/** Sorts causes into the order in which they are told; those the page does not know come last. */
export function orderCauses(causes) {
  const known = Object.keys(CAUSE_WORDS).filter((cause) => causes.includes(cause));
  return [...known, ...causes.filter((cause) => !known.includes(cause))];
}

/** Changes the theme: dark to light or back, whatever the system prefers. */
export function switchTheme() {
  const { dataset } = document.documentElement;
  const now = dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  dataset.theme = now === "dark" ? "light" : "dark";
  readPalette();
}
