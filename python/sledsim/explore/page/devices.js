import { makeCanvas } from "./canvas.js";
import { diskState, firstPass, rowCylinder, sledState, sledWord } from "./motion.js";
import { countHeld } from "./payload.js";
import { drawDisk } from "./disk_view.js";
import { drawSled, drawTipSquare, drawTips, litTips, tipsASquare } from "./sled_view.js";
import { choiceAt } from "./steps.js";
import { hybridOf, makeStrip } from "./strip.js";
import { countOf, fillList, formatCount, formatDigits, joinWords, make, rowAsks, rowName, setText } from "./text.js";

/** Gives the places of the requests that the last choice left waiting at a device, at t (ns). */
function waitingPlaces(run, device, t) {
  const last = choiceAt({ devices: [device] }, t);
  if (!last) return [];
  const places = [];
  for (let i = device.choiceFirst[last.i]; i < device.choiceFirst[last.i + 1]; i++) {
    const row = device.col.candidate_row[i];
    const pass = firstPass(run, row);
    if (pass < 0 || run.col.start_ns[row] <= t) continue;
    places.push({ pass, cylinder: rowCylinder(run, row), row: device.col.pass_row?.[pass] ?? 0 });
  }
  return places;
}

function figure(canvas, caption) {
  return make("figure", {}, canvas, make("figcaption", {}, caption));
}

const micrometres = (m) => `${formatDigits(m * 1e6, 5)} µm`;
const millimetresPerS = (v) => `${formatDigits(v * 1e3, 4)} mm/s`;

function sledParts(run, device) {
  const above = makeCanvas("view", "Sled from above");
  const square = makeCanvas("view", "Square of one tip");
  const tips = makeCanvas("view", "Tips");
  const unit = tipsASquare(device);
  const state = (t) => sledState(device, t);
  return {
    figures: [
      figure(above, "The sled from above, its movement enlarged; blue its way, green its passes, the arrow its velocity"),
      figure(square, "The square of one tip; rings are places that requests wait for"),
      figure(tips, `The ${formatCount(device.tips)} tips${unit > 1 ? `, ${unit} a square` : ""}; green are lit`),
    ],
    state,
    draw(now, t) {
      drawSled(above, device, now);
      drawTipSquare(square, device, now, waitingPlaces(run, device, t));
      drawTips(tips, device, now);
    },
    pairs(now) {
      const lit = now.passIndex >= 0 ? litTips(device, now.passIndex) : null;
      const track = lit && device.col.pass_track[now.passIndex];
      return [
        ["X", `${micrometres(now.x_m)}, ${millimetresPerS(now.x_m_s)}, ${now.x_phase}`],
        ["Y", `${micrometres(now.y_m)}, ${millimetresPerS(now.y_m_s)}, ${now.y_phase}`],
        ["Cylinder", `${formatCount(now.cylinder)} of ${formatCount(device.cylinders)}`],
        ["Row", now.media_row < 0 ? "outside the rows" : `${now.media_row} of ${device.rows}`],
        ["Tips lit", lit ? `${formatCount(lit.count)} of ${formatCount(device.tips)}, track ${track}` : "none"],
        ...(now.interpolated ? [["Motion", "interpolated: only the times of this access are known"]] : []),
      ];
    },
    label(now, pairs) {
      const told = Object.fromEntries(pairs);
      above.setAttribute("aria-label", `Sled from above: ${sledWord(now)}. X ${told.X}. Y ${told.Y}.`);
      square.setAttribute("aria-label", `Square of one tip: cylinder ${told.Cylinder}, row ${told.Row}.`);
      tips.setAttribute("aria-label", `Tips lit: ${told["Tips lit"]}.`);
    },
  };
}

function diskParts(run, device) {
  const canvas = makeCanvas("view", "Disk from above");
  return {
    figures: [figure(canvas, "The disk from above; green the sectors under way, dashed where interpolated")],
    state: (t) => diskState(run, device, t),
    draw: (now, t) => drawDisk(canvas, device, now, waitingPlaces(run, device, t)),
    pairs(now) {
      const between = now.interpolated ? `, interpolated between ${formatCount(now.from)} and ${formatCount(now.to)}` : "";
      return [
        ["Phase", now.phase],
        ["Cylinder", `${formatCount(Math.round(now.cylinder))} of ${formatCount(device.cylinders)}${between}`],
        ["Head", `${now.head} of ${device.heads}`],
        ["Angle", `${now.angle.toFixed(4)} of a revolution`],
      ];
    },
    label(now, pairs) {
      canvas.setAttribute("aria-label", `Disk from above: ${pairs.map((pair) => pair.join(" ")).join(", ")}.`);
    },
  };
}

function makePanel(run, device) {
  const parts = (device.role === "sled" ? sledParts : diskParts)(run, device);
  const list = make("dl", { class: "facts" });
  const element = make(
    "section", { class: `device ${device.role}` }, make("h4", {}, device.name),
    make("div", { class: "views" }, ...parts.figures), list,
  );
  return {
    element,
    draw: (t) => parts.draw(parts.state(t), t),
    describe(t, full) {
      const now = parts.state(t);
      const pairs = parts.pairs(now);
      const row = now.access >= 0 ? device.row[now.access] : -1;
      const busy = row >= 0 && t < run.col.completion_ns[row];
      const request = busy ? `${rowName(run, row)}, ${rowAsks(run, row)}` : "none under way";
      fillList(list, [["Request", request], ["Holds", countOf(countHeld(run, device, t), "request")], ...pairs]);
      if (full) parts.label(now, pairs);
    },
  };
}

/** Makes the pictures of a run's devices: {element, draw(t), describe(t, full)}, t in ns. */
export function makeDevices(run) {
  const drawn = run.devices.filter((device) => device.role !== "other" && device.accesses > 0);
  const named = run.devices.filter((device) => !drawn.includes(device));
  const panels = drawn.map((device) => makePanel(run, device));
  const others = make("p", { class: "others" });
  const element = make("div", { class: "devices" }, ...(named.length ? [others] : []));
  const hybrid = hybridOf(run);
  if (hybrid) {
    const strip = makeStrip(run, hybrid);
    element.append(strip.element);
    panels.push(strip);
  }
  const grid = make("div", { class: "panels" }, ...panels.slice(0, drawn.length).map((panel) => panel.element));
  element.append(grid);
  return {
    element,
    draw: (t) => panels.forEach((panel) => panel.draw(t)),
    describe(t, full) {
      panels.forEach((panel) => panel.describe(t, full));
      const held = named.map((device) => `${device.name} holds ${countOf(countHeld(run, device, t), "request")}`);
      if (named.length) setText(others, `${joinWords(held)}.`);
    },
  };
}
