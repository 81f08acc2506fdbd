import { makeCanvas, paint } from "./canvas.js";
import { diskState, firstPass, rowCylinder, sledState, sledWord } from "./motion.js";
import { countHeld } from "./payload.js";
import { drawDisk } from "./disk_view.js";
import { drawSled, drawTipSquare, drawTips, litTips, tipsASquare } from "./sled_view.js";
import { choiceAt } from "./steps.js";
import { hybridParts, makeStrip } from "./strip.js";
import { countOf, fillList, formatCount, joinWords, make, rowAsks, rowName, setText } from "./text.js";

/** Gives the state of a sled or disk of a run at t (ns). */
export const stateOf = (run, device, t) => (device.role === "sled" ? sledState(device, t) : diskState(run, device, t));

// The places of the requests that the last choice left waiting at a device, at t (ns).
function waitingPlaces(run, device, t) {
  const { candidate_row: rows, pass_row: mediaRow } = device.col;
  const last = choiceAt([device], t);
  const waiting = last ? rows.subarray(device.choiceFirst[last.i], device.choiceFirst[last.i + 1]) : [];
  return Array.from(waiting).filter((row) => run.col.start_ns[row] > t && firstPass(run, row) >= 0).map((row) => {
    const pass = firstPass(run, row);
    return { pass, cylinder: rowCylinder(run, row), row: mediaRow?.[pass] };
  });
}

const motionText = (m, speed, phase) => `${(m * 1e6).toFixed(3)} µm, ${(speed * 1e3).toFixed(2)} mm/s, ${phase}`;

function sledParts(run, device) {
  const views = ["Sled", "Square", "Tips"].map((label) => makeCanvas("view", label));
  return {
    views,
    captions: ["The sled from above, its movement enlarged: blue its way, green its passes, the arrow its velocity",
      "The square of one tip; rings are places that requests wait for",
      `The ${formatCount(device.tips)} tips, ${tipsASquare(device)} a square; green are lit`],
    draw: (...now) => [drawSled, drawTipSquare, drawTips].forEach((draw, i) => paint(views[i], draw, device, ...now)),
    pairs(now) {
      const lit = `${formatCount(litTips(device, now.passIndex).count)} of ${formatCount(device.tips)}`;
      return [
        ["Does", `${sledWord(now)}${now.interpolated ? ", interpolated: only its times are known" : ""}`],
        ["X", motionText(now.x_m, now.x_m_s, now.x_phase)], ["Y", motionText(now.y_m, now.y_m_s, now.y_phase)],
        ["Cylinder", `${formatCount(now.cylinder)} of ${formatCount(device.cylinders)}`],
        ["Row", now.media_row < 0 ? "outside the rows" : `${now.media_row} of ${device.rows}`],
        ["Tips lit", now.pass < 0 ? "none" : `${lit}, track ${device.col.pass_track[now.passIndex]}`],
      ];
    },
  };
}

function diskParts(run, device) {
  const views = [makeCanvas("view", "Disk from above")];
  return {
    views,
    captions: ["The disk from above: green the sectors under way, thin those waited for, dashed what is interpolated"],
    draw: (...now) => paint(views[0], drawDisk, device, ...now),
    pairs(now) {
      const between = now.interpolated ? `, interpolated from ${formatCount(now.from)} to ${formatCount(now.to)}` : "";
      return [
        ["Does", now.phase], ["Head", `${now.head} of ${device.heads}`],
        ["Cylinder", `${formatCount(Math.round(now.cylinder))} of ${formatCount(device.cylinders)}${between}`],
        ["Angle", `${now.angle.toFixed(4)} of a revolution`],
      ];
    },
  };
}

function makePanel(run, device) {
  const parts = (device.role === "sled" ? sledParts : diskParts)(run, device);
  const figures = parts.views.map((view, i) => make("figure", {}, view, make("figcaption", {}, parts.captions[i])));
  const [list, views] = [make("dl", { class: "facts" }), make("div", { class: "views" }, ...figures)];
  return {
    element: make("section", { class: "device" }, make("h4", {}, device.name), views, list),
    draw: (t) => parts.draw(stateOf(run, device, t), waitingPlaces(run, device, t)),
    describe(t, full) {
      const now = stateOf(run, device, t);
      const pairs = parts.pairs(now);
      const row = now.access < 0 ? -1 : device.row[now.access];
      const busy = row >= 0 && t < run.col.completion_ns[row];
      const serves = busy ? `${rowName(run, row)}, ${rowAsks(run, row)}` : "nothing";
      fillList(list, [["Serves", serves], ["Holds", countOf(countHeld(run, device, t), "request")], ...pairs]);
      const told = pairs.map((pair) => pair.join(": ")).join("; ");
      if (full) parts.views.forEach((view, i) => (view.ariaLabel = `${parts.captions[i]}. ${told}.`));
    },
  };
}

/** Makes the pictures of a run's devices: {element, draw(t), describe(t, full)}, t in ns. */
export function makeDevices(run) {
  const drawn = run.devices.filter((device) => device.role !== "other" && device.accesses > 0);
  const named = run.devices.filter((device) => !drawn.includes(device));
  const panels = drawn.map((device) => makePanel(run, device));
  const [others, hybrid, grid] = [make("p"), hybridParts(run), make("div", { class: "panels" })];
  const all = hybrid ? [makeStrip(run, hybrid), ...panels] : panels;
  grid.append(...panels.map((panel) => panel.element));
  return {
    element: make("div", {}, others, ...(hybrid ? [all[0].element] : []), grid),
    draw: (t) => all.forEach((panel) => panel.draw(t)),
    describe(t, full) {
      all.forEach((panel) => panel.describe(t, full));
      const held = named.map((device) => `${device.name} holds ${countOf(countHeld(run, device, t), "request")}`);
      setText(others, named.length ? `${joinWords(held)}.` : "");
    },
  };
}
