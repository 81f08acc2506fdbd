import { accessPhases, cylinderBefore } from "./motion.js";
import { OPERATIONS, countOf, fillList, formatCount, formatMs, rowAsks, rowName, setText, swatch } from "./text.js";
import { causeWord, orderCauses } from "./theme.js";

const MOST_PASSES = 12;
const PLACES = { from_cylinder: "From cylinder", to_cylinder: "To cylinder", cylinders: "Cylinders moved over" };
const DETAILS = { x_seek_ns: "X seek", y_seek_ns: "Y seek", settle_ns: "Settle, in X", turnaround_ns: "Turnarounds, in Y" };
const msOf = (seconds) => formatMs(seconds * 1e9);

// The seek before each pass of a sled: its X and Y parts, in numbers.
function sledNumbers(run, device, access) {
  const [x, y] = [device.x, device.y].map((axis) => accessPhases(device, access, axis));
  let from = 0;
  return y.filter(([, , word]) => word === "passes").map(([begin, end], i) => {
    const within = ([b, e]) => Math.max(0, Math.min(e, begin) - Math.max(b, from));
    const part = (phases, word) => phases.reduce((sum, one) => sum + (one[2] === word ? within(one) : 0), 0);
    const [move, settle] = [part(x, "moves"), part(x, "settles")];
    const [moveY, turns, startup] = [part(y, "moves"), part(y, "turns around"), part(y, "starts up")];
    const index = device.passFirst[access] + i;
    from = end;
    return [
      `Pass ${i + 1} (cylinder ${formatCount(device.col.pass_cylinder[index])}, row ${device.col.pass_row[index]})`,
      `X: ${msOf(move)} move + ${msOf(settle)} settle = ${msOf(move + settle)}. `
      + `Y: ${msOf(moveY)} move + ${msOf(turns)} turnarounds = ${msOf(moveY + turns)}. `
      + `The larger: ${msOf(Math.max(move + settle, moveY + turns))}. `
      + `${startup ? `Start-up before it: ${msOf(startup)}. ` : ""}The pass: ${msOf(end - begin)}.`,
    ];
  });
}

function diskNumbers(run, device, access) {
  const { col, passFirst, revolution_s: revolution } = device;
  const passes = Array.from(col.cylinder.subarray(passFirst[access], passFirst[access + 1]), (cylinder, i) => {
    const pass = passFirst[access] + i;
    const distance = Math.abs(cylinder - cylinderBefore(run, device, access, pass));
    const turns = (ns) => `${(ns * 1e-9 / revolution).toFixed(3)} of a revolution`;
    return [
      `Pass ${i + 1} (cylinder ${formatCount(cylinder)}, head ${col.head[pass]})`,
      `Seek over ${countOf(distance, "cylinder")}: ${formatMs(col.seek_ns[pass])}. `
      + `Head switch: ${formatMs(col.switch_ns[pass])}. Rotation: ${formatMs(col.wait_ns[pass])}, ${turns(col.wait_ns[pass])}. `
      + `Transfer of ${countOf(col.blocks[pass], "block")}: ${formatMs(col.pass_ns[pass])}, ${turns(col.pass_ns[pass])}.`,
    ];
  });
  return col.delay_ns?.[access] ? [["Spins up", formatMs(col.delay_ns[access])], ...passes] : passes;
}

function columnPairs(run, row) {
  const { col } = run;
  const parent = col.parent[row];
  const given = (words, text) => Object.entries(words).filter(([name]) => col[name]).map(([name, word]) => [word, text(col[name][row])]);
  return [
    ["Device", run.devices[col.device[row]].name],
    ["Asked by", parent === -1 ? "the host" : parent === -2 ? "the device itself" : rowName(run, parent)],
    ["Operation", OPERATIONS[col.op[row]]], ["LBN", formatCount(col.lbn[row])],
    ["Blocks", `${formatCount(col.blocks[row])} of 512 bytes`], ["Ended", col.failed[row] ? "with an error" : "well"],
    ["Arrival", formatMs(col.arrival_ns[row])], ["Start", formatMs(col.start_ns[row])],
    ["Completion", formatMs(col.completion_ns[row])], ["Others there at arrival", formatCount(col.depth[row])],
    ["Passes", formatCount(col.passes[row])], ...given(DETAILS, formatMs),
    ...given(PLACES, (value) => (value < 0 ? "none" : formatCount(value))),
  ];
}

/** Shows all about a row in the panel of the page: parts and their sum, formula with numbers, columns. */
export function showRow(run, row, several) {
  const [device, access, { col }] = [run.devices[run.col.device[row]], run.accessOf[row], run];
  const part = (name) => document.getElementById(`row-${name}`);
  setText(part("name"), several ? `${rowName(run, row)} of ${run.name}` : rowName(run, row));
  setText(part("asks"), `A ${rowAsks(run, row)}, on ${device.name}.`);
  const parts = orderCauses(run.causes).map((cause) => [cause, col[`${cause}_ns`][row]]);
  const sum = parts.reduce((total, [, ns]) => total + ns, 0);
  part("bar").replaceChildren(...parts.filter(([, ns]) => ns > 0).map(([cause, ns]) => swatch(cause, ns / sum)));
  fillList(part("parts"), parts.map(([cause, ns]) => [causeWord(cause), formatMs(ns)]));
  [...part("parts").querySelectorAll("dt")].forEach((term, i) => term.children[0] ?? term.prepend(swatch(parts[i][0])));
  const response = col.completion_ns[row] - col.arrival_ns[row];
  const verdict = sum === response ? "equal, to the ns" : `they differ by ${formatCount(sum - response)} ns`;
  setText(part("check"), `Parts sum to ${formatMs(sum)}; completion − arrival is ${formatMs(response)}: ${verdict}.`);
  setText(part("formula"), device.formula ?? "This device has no mechanism of its own.");
  const lines = access < 0 ? [] : (device.role === "sled" ? sledNumbers : diskNumbers)(run, device, access);
  fillList(part("numbers"), lines.slice(0, MOST_PASSES));
  const more = lines.length > MOST_PASSES ? `${countOf(lines.length - MOST_PASSES, "pass", "passes")} more follow.` : "";
  setText(part("more"), access < 0 ? "No mechanism moved for this row alone." : more);
  fillList(part("columns"), columnPairs(run, row));
}
