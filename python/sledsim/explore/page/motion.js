import { lastAtOrBefore } from "./search.js";

export const SLED_PHASES = ["waits", "moves", "settles", "turns around", "passes", "starts up", "rests"];
export const DISK_PHASES = ["seeks", "switches head", "waits for the sector", "passes"];
const PASSES = 4;
const RESTS = 6;
// Times at a boundary may round to just before it: this much is forgiven, in s.
const SLACK_S = 1e-12;

/** Finds the access of a device under way or last at t (ns); -1 before the first. */
export const accessAt = (device, t) => lastAtOrBefore(device.start, t);

/** Gives the phase of a segment of an axis. */
export const phaseOf = (axis, i) => axis.how[i] >> 2;

/** Evaluates a segment t seconds after its begin: [place in m, velocity in m/s]. */
export function evaluateSegment(axis, i, t) {
  const form = axis.how[i] & 3;
  const [p, v, a, w] = [axis.m[i], axis.v[i], axis.a[i], axis.w];
  if (form === 0) return [p, 0];
  if (form === 1 && w > 0) {
    const half = Math.sin(w * t / 2);
    return [p + v * Math.sin(w * t) / w + 2 * a * half * half / (w * w), v * Math.cos(w * t) + a * Math.sin(w * t) / w];
  }
  return [p + v * t + a * t * t / 2, v + a * t];
}

function restAfter(axis, access) {
  const last = axis.first[access + 1] - 1;
  if (last < 0) return axis.m[0] ?? 0;
  return evaluateSegment(axis, last, axis.s[last])[0];
}

/** Evaluates an axis tau seconds after the begin of an access: place m, speed m/s, phase, segment i. */
export function axisAt(axis, access, tau) {
  if (access < 0) return { place: axis.m[0] ?? 0, speed: 0, phase: RESTS, i: -1 };
  let i = axis.first[access];
  const end = axis.first[access + 1];
  let begin = 0;
  while (i < end && tau + SLACK_S >= begin + axis.s[i]) begin += axis.s[i++];
  if (i === end) return { place: restAfter(axis, access), speed: 0, phase: RESTS, i: -1 };
  const [place, speed] = evaluateSegment(axis, i, Math.max(0, tau - begin));
  return { place, speed, phase: phaseOf(axis, i), i };
}

function passOf(axis, access, i) {
  let pass = -1;
  for (let j = axis.first[access]; j <= i; j++) if (phaseOf(axis, j) === PASSES) pass++;
  return pass;
}

/** Gives the state of a sled at t (ns): places m, velocities m/s, phases in words, the pass or -1. */
export function sledState(device, t) {
  const access = accessAt(device, t);
  const tau = access < 0 ? 0 : (t - device.start[access]) * 1e-9;
  const [x, y] = [axisAt(device.x, access, tau), axisAt(device.y, access, tau)];
  const passing = y.phase === PASSES;
  const pass = passing ? passOf(device.y, access, y.i) : -1;
  const at = device.passFirst[Math.max(0, access)] + pass;
  const row = passing ? device.col.pass_row[at] : lastAtOrBefore(device.edge_m, y.place);
  return {
    access, tau, pass, passIndex: passing ? at : -1,
    x_m: x.place, y_m: y.place, x_m_s: x.speed, y_m_s: y.speed,
    x_phase: SLED_PHASES[x.phase], y_phase: SLED_PHASES[y.phase],
    cylinder: passing ? device.col.pass_cylinder[at] : Math.round(x.place / device.bit_m + device.xOffset),
    media_row: row >= 0 && row < device.rows ? row : -1,
    interpolated: access >= 0 && device.col.exact?.[access] === 0,
  };
}

/** Gives the one word that tells best what a sled does. */
export function sledWord(state) {
  const order = ["passes", "starts up", "moves", "turns around", "settles", "waits"];
  return order.find((word) => word === state.x_phase || word === state.y_phase) ?? "rests";
}

/** Gives the phases of an axis or disk access as [begin, end, word], s after the row's start. */
export function accessPhases(device, access, axis) {
  const phases = [];
  let at = 0;
  const add = (duration, word) => {
    if (duration > 0) phases.push([at, at + duration, word]);
    at += duration;
  };
  if (axis) {
    for (let i = axis.first[access]; i < axis.first[access + 1]; i++) add(axis.s[i], SLED_PHASES[phaseOf(axis, i)]);
    return phases;
  }
  const { col, passFirst } = device;
  add((col.delay_ns?.[access] ?? 0) * 1e-9, "spins up");
  for (let pass = passFirst[access]; pass < passFirst[access + 1]; pass++) {
    const parts = [col.seek_ns, col.switch_ns, col.wait_ns, col.pass_ns];
    parts.forEach((part, i) => add(part[pass] * 1e-9, DISK_PHASES[i]));
  }
  return phases;
}

/** Gives the cylinder at which a disk's arm stands before a pass. */
export function cylinderBefore(run, device, access, pass) {
  if (pass > device.passFirst[access]) return device.col.cylinder[pass - 1];
  const from = run.col.from_cylinder?.[device.row[access]] ?? -1;
  if (from >= 0) return from;
  return pass > 0 ? device.col.cylinder[pass - 1] : device.col.cylinder[pass] ?? 0;
}

/** Gives the state of a disk at t (ns): cylinder, head, angle in revolutions, phase, interpolated or not. */
export function diskState(run, device, t) {
  const { col, passFirst } = device;
  const access = accessAt(device, t);
  const turns = device.angle_at_0 + t * 1e-9 / device.revolution_s;
  const state = { access, angle: turns - Math.floor(turns), phase: "rests", interpolated: false, pass: -1 };
  const at = Math.max(0, access);
  const first = passFirst[at];
  const end = passFirst[at + 1] ?? first;
  const standing = access < 0 || end === first ? cylinderBefore(run, device, at, first) : col.cylinder[end - 1];
  state.cylinder = state.from = state.to = standing;
  state.head = (access < 0 ? col.head?.[first] : col.head?.[end - 1]) ?? 0;
  if (access < 0) return state;
  state.interpolated = col.exact?.[access] === 0;
  let left = t - device.start[access] - (col.delay_ns?.[access] ?? 0);
  if (left < -1e-3) {
    const before = cylinderBefore(run, device, access, first);
    return Object.assign(state, { phase: "spins up", cylinder: before, from: before, to: before });
  }
  for (let pass = first; pass < end; pass++) {
    const parts = [col.seek_ns[pass], col.switch_ns[pass], col.wait_ns[pass], col.pass_ns[pass]];
    for (let i = 0; i < 4; i++) {
      if (left + 1e-3 < parts[i]) return placeDisk(run, device, state, pass, i, left / parts[i]);
      left -= parts[i];
    }
  }
  return state;
}

function placeDisk(run, device, state, pass, part, share) {
  const from = cylinderBefore(run, device, state.access, pass);
  const to = device.col.cylinder[pass];
  Object.assign(state, { pass, from, to, cylinder: to, phase: DISK_PHASES[part], head: device.col.head[pass] });
  if (part === 0) {
    state.cylinder = from + (to - from) * share * share * (3 - 2 * share);
    state.interpolated = true;
  }
  return state;
}

/** Gives the first place of a row's access: its pass's index in the device's columns, or -1. */
export function firstPass(run, row) {
  const access = run.accessOf[row];
  if (access < 0) return -1;
  const { passFirst } = run.devices[run.col.device[row]];
  return passFirst[access + 1] > passFirst[access] ? passFirst[access] : -1;
}

/** Gives the cylinder a row begins at, or -1. */
export function rowCylinder(run, row) {
  const { col } = run.devices[run.col.device[row]];
  const pass = firstPass(run, row);
  const places = col.pass_cylinder ?? col.cylinder;
  return pass >= 0 && places ? places[pass] : run.col.to_cylinder?.[row] ?? -1;
}
