import { accessPhases, cylinderBefore } from "./motion.js";
import { OPERATIONS, countOf, fillList, formatCount, formatMs, make, rowAsks, rowName, setText } from "./text.js";
import { causeWord, orderCauses } from "./theme.js";

const MOST_PASSES = 12;
const OTHER_TIMES = ["x_seek_ns", "y_seek_ns", "settle_ns", "turnaround_ns"];
const DETAIL_WORDS = {
  x_seek_ns: "X seek, settle included", y_seek_ns: "Y seek, turnarounds included",
  settle_ns: "Settle (in X seek)", turnaround_ns: "Turnarounds (in Y seek)",
};
const ms = (seconds) => formatMs(seconds * 1e9);

function clippedTime(phases, word, from, to) {
  return phases.reduce((sum, [begin, end, is]) => (is === word ? sum + Math.max(0, Math.min(end, to) - Math.max(begin, from)) : sum), 0);
}

// The seek before each pass of a sled: its X and Y parts, in numbers.
function sledNumbers(device, access) {
  const [x, y] = [device.x, device.y].map((axis) => accessPhases(device, access, axis));
  const passes = y.filter(([, , word]) => word === "passes");
  let from = 0;
  return passes.map(([begin, end], i) => {
    const part = (phases, word) => clippedTime(phases, word, from, begin);
    const [moveX, settle, moveY, turns] = [part(x, "moves"), part(x, "settles"), part(y, "moves"), part(y, "turns around")];
    const started = part(y, "starts up") || part(x, "starts up");
    const index = device.passFirst[access] + i;
    const target = `cylinder ${formatCount(device.col.pass_cylinder[index])}, row ${device.col.pass_row[index]}`;
    const [sumX, sumY] = [moveX + settle, moveY + turns];
    const text = `X: ${ms(moveX)} move + ${ms(settle)} settle = ${ms(sumX)}. Y: ${ms(moveY)} move + ${ms(turns)} turnarounds = `
      + `${ms(sumY)}. The larger: ${ms(Math.max(sumX, sumY))}.${started ? ` Before it, start-up ${ms(started)}.` : ""} Pass: ${ms(end - begin)}.`;
    from = end;
    return [`Pass ${i + 1} (${target})`, text];
  });
}

function curveAt(curve, cylinders) {
  const i = curve.findIndex(([n]) => n >= cylinders);
  if (i < 0) return null;
  const [[n1, t1], [n0, t0]] = [curve[i], curve[Math.max(0, i - 1)]];
  return n1 === n0 ? t1 : t0 + (t1 - t0) * (cylinders - n0) / (n1 - n0);
}

function diskNumbers(run, device, access) {
  const { col, passFirst } = device;
  const delay = col.delay_ns?.[access] ?? 0;
  const lines = delay ? [["Spins up", formatMs(delay)]] : [];
  for (let pass = passFirst[access]; pass < passFirst[access + 1]; pass++) {
    const distance = Math.abs(col.cylinder[pass] - cylinderBefore(run, device, access, pass));
    const curve = distance && device.seek_curve_ms?.length ? curveAt(device.seek_curve_ms, distance) : null;
    const near = curve === null ? "" : ` (the curve gives about ${formatMs(curve * 1e6)})`;
    const revolution = device.revolution_s * 1e9;
    lines.push([
      `Pass ${pass - passFirst[access] + 1} (cylinder ${formatCount(col.cylinder[pass])}, head ${col.head[pass]})`,
      `Seek over ${countOf(distance, "cylinder")}: ${formatMs(col.seek_ns[pass])}${near}. Head switch: ${formatMs(col.switch_ns[pass])}. `
      + `Rotation: ${formatMs(col.wait_ns[pass])} (${(col.wait_ns[pass] / revolution).toFixed(3)} of a revolution). `
      + `Transfer of ${countOf(col.blocks[pass], "block")}: ${formatMs(col.pass_ns[pass])}.`,
    ]);
  }
  return lines;
}

function columnPairs(run, row) {
  const { col } = run;
  const parent = col.parent[row];
  const pairs = [
    ["Device", run.devices[col.device[row]].name],
    ["Asked by", parent === -1 ? "the host" : parent === -2 ? "the device itself" : rowName(run, parent)],
    ["Operation", OPERATIONS[col.op[row]]], ["LBN", formatCount(col.lbn[row])],
    ["Blocks", `${formatCount(col.blocks[row])} of 512 bytes`],
    ["Ended", col.failed[row] ? "with an error" : "well"],
    ["Arrival", formatMs(col.arrival_ns[row])], ["Start", formatMs(col.start_ns[row])],
    ["Completion", formatMs(col.completion_ns[row])],
    ["Queue at arrival", countOf(col.depth[row], "other request")], ["Passes", formatCount(col.passes[row])],
  ];
  for (const name of OTHER_TIMES) if (col[name]) pairs.push([DETAIL_WORDS[name], formatMs(col[name][row])]);
  const place = (name, word) => {
    const value = col[name]?.[row] ?? -1;
    pairs.push([word, value < 0 ? "none" : formatCount(value)]);
  };
  place("from_cylinder", "From cylinder");
  place("to_cylinder", "To cylinder");
  place("cylinders", "Cylinders moved over");
  return pairs;
}

// The parts as a bar and a list, and whether they sum to the response time.
function showParts(run, row, bar, list, check) {
  const { col } = run;
  const parts = ["overhead", "queue"].filter((cause) => run.causes.includes(cause))
    .concat(orderCauses(run.causes).filter((cause) => cause !== "overhead" && cause !== "queue"))
    .map((cause) => [cause, col[`${cause}_ns`][row]]);
  const sum = parts.reduce((total, [, ns]) => total + ns, 0);
  bar.replaceChildren(...parts.filter(([, ns]) => ns > 0).map(([cause, ns]) => {
    const piece = make("i", { class: `swatch cause-${cause}` });
    piece.style.flex = `${ns / sum} 1 0`;
    return piece;
  }));
  fillList(list, parts.map(([cause, ns]) => [causeWord(cause), formatMs(ns)]));
  [...list.children].forEach((item, i) => (item.className = `cause-${parts[i][0]} keyed`));
  const response = col.completion_ns[row] - col.arrival_ns[row];
  const off = sum - response;
  const verdict = off === 0 ? "equal, to the ns" : `they differ by ${formatCount(off)} ns`;
  setText(check, `Parts sum to ${formatMs(sum)}; completion − arrival is ${formatMs(response)}: ${verdict}.`);
}

/** Makes the panel of the selected row: {show(run, row)}. */
export function makeRowPanel(section) {
  const title = make("h3", {}, "No request selected");
  const asks = make("p");
  const bar = make("div", { class: "parts-bar", "aria-hidden": "true" });
  const parts = make("dl", { class: "facts" });
  const check = make("p", { class: "check" });
  const columns = make("dl", { class: "facts" });
  const formula = make("p", { class: "formula" });
  const numbers = make("dl", { class: "numbers" });
  const more = make("p", { class: "muted" });
  const about = make("div", {}, make("h4", {}, "Parts of its time"), bar, parts, check);
  const motion = make("div", {}, make("h4", {}, "How its seek follows"), formula, numbers, more);
  section.append(title, asks, make("div", { class: "row-grid" }, about, motion, make("div", {}, make("h4", {}, "All columns"), columns)));
  return {
    show(run, row, several) {
      const device = run.devices[run.col.device[row]];
      const access = run.accessOf[row];
      setText(title, several ? `${rowName(run, row)} of ${run.name}` : rowName(run, row));
      setText(asks, `A ${rowAsks(run, row)}, on ${device.name}.`);
      showParts(run, row, bar, parts, check);
      fillList(columns, columnPairs(run, row));
      setText(formula, device.formula ?? "This device has no mechanism of its own.");
      const lines = access < 0 ? [] : device.role === "sled" ? sledNumbers(device, access) : diskNumbers(run, device, access);
      fillList(numbers, lines.slice(0, MOST_PASSES));
      const hidden = lines.length - MOST_PASSES;
      const moved = access < 0 ? "No mechanism moved for this row alone." : "";
      setText(more, hidden > 0 ? `${formatCount(hidden)} more pass${hidden > 1 ? "es" : ""}.` : moved);
    },
  };
}
