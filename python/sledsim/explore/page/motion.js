import { lastAtOrBefore } from "./search.js";

const SLED_PHASES = ["waits", "moves", "settles", "turns around", "passes", "starts up", "rests"];
const DISK_PHASES = ["seeks", "switches head", "waits for the sector", "passes"];
const [PASSES, RESTS] = [4, 6];
// Times at a boundary may round to just before it: this much is forgiven.
const SLACK_S = 1e-12;

/** Finds the access of a device under way or last at t (ns); -1 before the first. */
export const accessAt = (device, t) => lastAtOrBefore(device.start, t);
/** Tells whether a segment of an axis passes over a row. */
export const isPass = (axis, i) => axis.how[i] >> 2 === PASSES;

/** Evaluates a segment t seconds after its begin: [place in m, velocity in m/s]. */
export function evaluateSegment(axis, i, t) {
  const [form, p, v, a, w] = [axis.how[i] & 3, axis.m[i], axis.v[i], axis.a[i], axis.w];
  if (form === 0) return [p, 0];
  if (form === 2 || w === 0) return [p + v * t + a * t * t / 2, v + a * t];
  const [sine, half] = [Math.sin(w * t), Math.sin(w * t / 2)];
  return [p + v * sine / w + 2 * a * half * half / (w * w), v * Math.cos(w * t) + a * sine / w];
}

/** Evaluates an axis tau seconds after the begin of an access: place m, speed m/s, phase, segment i. */
export function axisAt(axis, access, tau) {
  let [i, end, begin] = access < 0 ? [0, 0, 0] : [axis.first[access], axis.first[access + 1], 0];
  while (i < end && tau + SLACK_S >= begin + axis.s[i]) begin += axis.s[i++];
  if (i < end) {
    const [place, speed] = evaluateSegment(axis, i, Math.max(0, tau - begin));
    return { place, speed, phase: axis.how[i] >> 2, i };
  }
  const place = i > 0 ? evaluateSegment(axis, i - 1, axis.s[i - 1])[0] : axis.m[0] ?? 0;
  return { place, speed: 0, phase: RESTS, i: -1 };
}

/** Gives the state of a sled at t (ns): places m, velocities m/s, phases in words, the pass or -1. */
export function sledState(device, t) {
  const { col, passFirst, edge_m: edges } = device;
  const access = accessAt(device, t);
  const tau = access < 0 ? 0 : (t - device.start[access]) * 1e-9;
  const [x, y] = [axisAt(device.x, access, tau), axisAt(device.y, access, tau)];
  let pass = -1;
  if (y.phase === PASSES) for (let j = device.y.first[access]; j <= y.i; j++) pass += isPass(device.y, j);
  const at = pass < 0 ? -1 : passFirst[access] + pass;
  const row = pass < 0 ? lastAtOrBefore(edges, y.place) : col.pass_row[at];
  return {
    access, tau, pass, passIndex: at, x_m: x.place, y_m: y.place, x_m_s: x.speed, y_m_s: y.speed,
    x_phase: SLED_PHASES[x.phase], y_phase: SLED_PHASES[y.phase], media_row: row < device.rows ? row : -1,
    cylinder: pass < 0 ? Math.round(x.place / device.bit_m + device.xOffset) : col.pass_cylinder[at],
    interpolated: access >= 0 && col.exact?.[access] === 0,
  };
}

/** Gives the one word that tells best what a sled does. */
export const sledWord = (state) => ["passes", "starts up", "moves", "turns around", "settles", "waits"]
  .find((word) => word === state.x_phase || word === state.y_phase) ?? "rests";

/** Gives the phases of a disk access, or of an axis of a sled's: [begin, end, word, pass], s after the row's start. */
export function accessPhases(device, access, axis) {
  const { col, passFirst } = device;
  const phases = [];
  let at = 0;
  const add = (duration, word, pass) => duration > 0 && phases.push([at, (at += duration), word, pass]);
  for (let i = axis?.first[access]; i < axis?.first[access + 1]; i++) add(axis.s[i], SLED_PHASES[axis.how[i] >> 2]);
  if (axis) return phases;
  add((col.delay_ns?.[access] ?? 0) * 1e-9, "spins up");
  for (let pass = passFirst[access]; pass < passFirst[access + 1]; pass++) {
    const parts = [col.seek_ns, col.switch_ns, col.wait_ns, col.pass_ns];
    parts.forEach((part, i) => add(part[pass] * 1e-9, DISK_PHASES[i], pass));
  }
  return phases;
}

/** Gives the cylinder at which a disk's arm stands before a pass of an access. */
export function cylinderBefore(run, { col, row, passFirst }, access, pass) {
  const from = pass > passFirst[access] ? -1 : run.col.from_cylinder?.[row[access]] ?? -1;
  return from >= 0 ? from : col.cylinder[Math.max(0, pass - 1)] ?? 0;
}

/** Gives the state of a disk at t (ns): cylinder, head, angle in revolutions, phase, interpolated or not. */
export function diskState(run, device, t) {
  const { col, passFirst } = device;
  const access = accessAt(device, t);
  const first = passFirst[Math.max(0, access)];
  const turns = device.angle_at_0 + t * 1e-9 / device.revolution_s;
  const tau = (t - device.start[access]) * 1e-9 + SLACK_S;
  const phases = access < 0 ? [] : accessPhases(device, access);
  const [begin, end, phase, pass = -1] = phases.find(([from, to]) => tau >= from && tau < to) ?? [0, 1, "rests"];
  // The pass that leaves the arm where it is: the one under way or the last one.
  const last = pass >= 0 ? pass : access >= 0 && phase === "rests" ? passFirst[access + 1] - 1 : first - 1;
  const to = last < first ? cylinderBefore(run, device, Math.max(0, access), first) : col.cylinder[last];
  const from = phase === "seeks" ? cylinderBefore(run, device, access, pass) : to;
  const share = (tau - begin) / (end - begin);
  return {
    access, pass, phase, from, to, head: col.head?.[Math.max(0, last)] ?? 0, angle: turns - Math.floor(turns),
    cylinder: from === to ? to : from + (to - from) * share * share * (3 - 2 * share),
    interpolated: phase === "seeks" || col.exact?.[access] === 0,
  };
}

/** Gives the first place of a row's access: its pass's index in the device's columns, or -1. */
export function firstPass(run, row) {
  const [access, { passFirst }] = [run.accessOf[row], run.devices[run.col.device[row]]];
  return passFirst[access + 1] > passFirst[access] ? passFirst[access] : -1;
}

/** Gives the cylinder a row begins at, or -1. */
export function rowCylinder(run, row) {
  const { col } = run.devices[run.col.device[row]];
  return (col.pass_cylinder ?? col.cylinder)?.[firstPass(run, row)] ?? run.col.to_cylinder?.[row] ?? -1;
}
