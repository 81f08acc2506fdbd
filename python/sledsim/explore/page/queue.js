import { rowCylinder } from "./motion.js";
import { choiceAt } from "./steps.js";
import { OPERATIONS, countOf, formatCount, formatMs, joinWords, make, numberOfMs, rowName, setText, shortMs } from "./text.js";

const UNKNOWN = 0xffffffff;
const MOST_SHOWN = 100;

/** Explains a choice of a device: time (ns), row taken, candidates with estimates (ns), SPTF's row, reasons. */
export function explainChoice(run, device, i) {
  const row = device.col.choice_row[i];
  const place = run.col.from_cylinder?.[row] ?? -1;
  const [begin, end] = [device.choiceFirst[i], device.choiceFirst[i + 1]];
  const candidates = Array.from(device.col.candidate_row.subarray(begin, end), (candidate, j) => {
    const [cylinder, estimate] = [rowCylinder(run, candidate), device.col.candidate_ns[begin + j]];
    const away = cylinder < 0 || place < 0 ? Infinity : Math.abs(cylinder - place);
    const estimate_ns = estimate === UNKNOWN ? Infinity : estimate;
    return { row: candidate, cylinder, away, estimate_ns, arrival_ns: run.col.arrival_ns[candidate] };
  });
  candidates.sort((a, b) => a.arrival_ns - b.arrival_ns || run.col.id[a.row] - run.col.id[b.row]);
  const least = (key) => Math.min(...candidates.map((one) => one[key]));
  const taken = candidates.find((one) => one.row === row);
  candidates.forEach((one, place) => (one.place = place));
  const rules = [["place", "first come"], ["estimate_ns", "shortest estimate"], ["away", "nearest cylinder"]];
  const fits = ([key]) => taken && taken[key] < Infinity && taken[key] === least(key);
  const reasons = rules.filter(fits).map(([, words]) => words);
  const why = joinWords(reasons) || `neither: taken by the rule of ${run.scheduler}`;
  const sptf = candidates.find((one) => one.estimate_ns < Infinity && one.estimate_ns === least("estimate_ns"));
  return { device: device.index, t_ns: device.choiceTime[i], row, candidates, sptf_row: sptf?.row ?? -1, reasons, why };
}

function tableLine(run, choice, one, onSelect) {
  const button = make("button", { type: "button", class: "link" }, rowName(run, one.row));
  button.addEventListener("click", () => onSelect(run.index, one.row));
  const marks = [one.row === choice.row && "taken", one.row === choice.sptf_row && "SPTF"].filter(Boolean).join(", ");
  const [place, estimate] = [one.cylinder < 0 ? "unknown" : formatCount(one.cylinder), numberOfMs(one.estimate_ns)];
  const cells = [button, marks, OPERATIONS[run.col.op[one.row]], formatCount(run.col.lbn[one.row]), place,
    shortMs(one.arrival_ns), one.estimate_ns === Infinity ? "unknown" : estimate].map((content) => make("td", {}, content));
  return make("tr", { class: one.row === choice.row ? "taken" : "waits" }, ...cells);
}

function sentences(run, device, choice) {
  const [name, other] = [choice.row, choice.sptf_row].map((row) => row >= 0 && rowName(run, row).toLowerCase());
  if (!choice.candidates.length) {
    const { choice_count: counts } = device.col;
    const times = (device.kept ??= device.choiceTime.filter((_, i) => counts[i] > 0));
    const [first, last] = [times[0], times.at(-1)].map(formatMs);
    const kept = `${formatCount(times.length)} of ${countOf(counts.length, "choice")} have them`;
    return `At ${formatMs(choice.t_ns)} ${device.name} took ${name} while others waited. The estimates of this choice were not `
      + `kept: ${times.length ? `${kept}, from ${first} to ${last}` : "no choice has them"}.`;
  }
  const sptf = !other ? "The device gave no estimate." : choice.sptf_row === choice.row
    ? "SPTF would take the same." : `SPTF would take ${other}, whose estimate is the least.`;
  const few = choice.candidates.length > MOST_SHOWN ? ` (here the first ${MOST_SHOWN})` : "";
  return `At ${formatMs(choice.t_ns)} ${device.name} chose among ${countOf(choice.candidates.length, "request")}${few}. `
    + `${run.scheduler} took ${name}: ${choice.why}. ${sptf}`;
}

/** Makes the panel of a run's queue at its last choice: {element, describe(t)}, t in ns. */
export function makeQueue(run, onSelect) {
  const element = document.getElementById("queue-panel").content.firstElementChild.cloneNode(true);
  const [story, scroll, body] = [".story", ".scroll", "tbody"].map((name) => element.querySelector(name));
  scroll.setAttribute("aria-label", `Who waited at the last choice, ${run.name}`);
  const chose = run.devices.some((device) => device.choiceTime.length);
  let shown = null;
  return {
    element,
    describe(t) {
      const last = choiceAt(run.devices, t);
      const key = last ? `${last.device.index} ${last.i}` : "";
      if (key === shown) return;
      shown = key;
      const choice = last && explainChoice(run, last.device, last.i);
      const shownOnes = choice?.candidates.slice(0, MOST_SHOWN) ?? [];
      scroll.hidden = !shownOnes.length;
      setText(story, choice ? sentences(run, last.device, choice) : chose ? "No choice yet." : "No choice was made.");
      body.replaceChildren(...shownOnes.map((one) => tableLine(run, choice, one, onSelect)));
    },
  };
}

/** Finds a choice by its index, counted over the devices of a run one after another. */
export function choiceByIndex(run, index) {
  let left = index;
  for (const device of run.devices) {
    if (left < device.choiceTime.length) return explainChoice(run, device, left);
    left -= device.choiceTime.length;
  }
  return null;
}
