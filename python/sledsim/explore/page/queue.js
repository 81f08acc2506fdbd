import { rowCylinder } from "./motion.js";
import { lastAtOrBefore } from "./search.js";
import { choiceAt } from "./steps.js";
import { OPERATIONS, countOf, formatCount, formatMs, formatShortMs, joinWords, make, rowName, setText } from "./text.js";

const UNKNOWN = 0xffffffff;
const MOST_SHOWN = 100;

/** Explains a choice of a device: time (ns), row taken, candidates with estimates (ns), SPTF's row, reasons. */
export function explainChoice(run, device, i) {
  const { arrival_ns: arrival, from_cylinder: from, id } = run.col;
  const row = device.col.choice_row[i];
  const candidates = [];
  for (let j = device.choiceFirst[i]; j < device.choiceFirst[i + 1]; j++) {
    const candidate = device.col.candidate_row[j];
    const estimate = device.col.candidate_ns[j];
    candidates.push({
      row: candidate, estimate_ns: estimate === UNKNOWN ? null : estimate,
      cylinder: rowCylinder(run, candidate), arrival_ns: arrival[candidate],
    });
  }
  const place = from?.[row] ?? -1;
  const least = (value) => candidates.reduce((best, one) => {
    const [here, there] = [value(one), best ? value(best) : Infinity];
    return here < there || (here === there && best && (one.arrival_ns - best.arrival_ns || id[one.row] - id[best.row]) < 0) ? one : best;
  }, null);
  const estimateOf = (one) => one.estimate_ns ?? Infinity;
  const distance = (one) => (one.cylinder < 0 || place < 0 ? Infinity : Math.abs(one.cylinder - place));
  const taken = candidates.find((one) => one.row === row);
  const [first, sptf, nearest] = [(one) => one.arrival_ns, estimateOf, distance].map(least);
  const reasons = [];
  if (taken && taken.arrival_ns === first.arrival_ns) reasons.push("first come");
  if (taken && sptf && estimateOf(taken) === sptf.estimate_ns) reasons.push("shortest estimate");
  if (taken && nearest && distance(taken) === distance(nearest)) reasons.push("nearest cylinder");
  const why = reasons.length ? joinWords(reasons) : `neither: taken by the rule of ${run.scheduler}`;
  return { device: device.index, t_ns: device.choiceTime[i], row, candidates, sptf_row: sptf?.row ?? -1, reasons, why };
}

const HEADS = ["Request", "Op", "LBN", "Cylinder", "Waits since", "Estimate", ""];

function fillTable(body, run, choice, onSelect) {
  const sorted = [...choice.candidates].sort((a, b) => a.arrival_ns - b.arrival_ns || a.row - b.row);
  body.replaceChildren(...sorted.slice(0, MOST_SHOWN).map((one) => {
    const button = make("button", { type: "button", class: "link" }, rowName(run, one.row));
    button.addEventListener("click", () => onSelect(run.index, one.row));
    const marks = [one.row === choice.row && "taken", one.row === choice.sptf_row && "SPTF"].filter(Boolean);
    const texts = [
      OPERATIONS[run.col.op[one.row]], formatCount(run.col.lbn[one.row]),
      one.cylinder < 0 ? "unknown" : formatCount(one.cylinder), formatShortMs(one.arrival_ns),
      one.estimate_ns === null ? "unknown" : formatShortMs(one.estimate_ns), marks.join(", "),
    ];
    const line = make("tr", {}, make("td", {}, button), ...texts.map((text) => make("td", {}, text)));
    if (one.row === choice.row) line.className = "taken";
    return line;
  }));
}

function sentences(run, device, choice) {
  const at = `At ${formatMs(choice.t_ns)} ${device.name} chose among ${countOf(choice.candidates.length, "request")}.`;
  const taken = `${run.scheduler} took ${rowName(run, choice.row).toLowerCase()}: ${choice.why}.`;
  if (choice.sptf_row < 0) return `${at} ${taken} The device gave no estimate.`;
  if (choice.sptf_row === choice.row) return `${at} ${taken} SPTF would take the same.`;
  return `${at} ${taken} SPTF would take ${rowName(run, choice.sptf_row).toLowerCase()}, whose estimate is the least.`;
}

/** Says which choices of a device have their estimates. */
function keptOnes(device) {
  const counts = device.col.choice_count;
  const kept = counts.reduce((sum, count) => sum + (count > 0), 0);
  if (!kept) return "No choice has them.";
  const [first, last] = [counts.findIndex((count) => count > 0), counts.findLastIndex((count) => count > 0)];
  const between = `between ${formatMs(device.choiceTime[first])} and ${formatMs(device.choiceTime[last])}`;
  return `${formatCount(kept)} of ${countOf(counts.length, "choice")} have them, ${between}.`;
}

/** Makes the panel of a run's queue at its last choice: {element, describe(t)}, t in ns. */
export function makeQueue(run, onSelect) {
  const total = run.devices.reduce((sum, device) => sum + device.choiceTime.length, 0);
  const story = make("p", {}, total ? "No choice yet." : "No request ever had to wait for another: no choice was made.");
  const body = make("tbody");
  const table = make("table", {}, make("thead", {}, make("tr", {}, ...HEADS.map((head) =>
    head ? make("th", { scope: "col" }, head) : make("td")))), body);
  const label = `Who waited at the last choice, ${run.name}`;
  const scroll = make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, table);
  const rest = make("p", { class: "muted" });
  scroll.hidden = true;
  let shown = "";
  return {
    element: make("section", { class: "queue" }, make("h4", {}, "Queue at the last choice"), story, scroll, rest),
    describe(t) {
      const last = choiceAt(run, t);
      const key = last ? `${last.device.index} ${last.i}` : "";
      if (key === shown) return;
      shown = key;
      const choice = last && explainChoice(run, last.device, last.i);
      scroll.hidden = !choice?.candidates.length;
      setText(rest, "");
      if (!choice) return setText(story, "No choice yet.");
      if (scroll.hidden) {
        const took = `At ${formatMs(choice.t_ns)} ${last.device.name} took ${rowName(run, choice.row).toLowerCase()} while others waited.`;
        return setText(story, `${took} Estimates were not kept for this choice. ${keptOnes(last.device)}`);
      }
      const more = choice.candidates.length - MOST_SHOWN;
      if (more > 0) setText(rest, `${countOf(more, "request")} more waited.`);
      setText(story, sentences(run, last.device, choice));
      return fillTable(body, run, choice, onSelect);
    },
  };
}

/** Finds a choice by its index, counted over the devices of a run one after another. */
export function choiceByIndex(run, index) {
  const ends = [];
  run.devices.forEach((device, i) => ends.push((ends[i - 1] ?? 0) + device.choiceTime.length));
  const at = lastAtOrBefore(ends, index) + 1;
  return at < ends.length && index >= 0 ? explainChoice(run, run.devices[at], index - (ends[at - 1] ?? 0)) : null;
}
