import { lastAtOrBefore } from "./search.js";
import { accessAt, accessPhases } from "./motion.js";

// Times nearer than this are the same, in ns.
const SAME_NS = 0.5;

// The boundaries of the phases of an access, ns of the run's clock.
function boundariesOf(run, device, access) {
  const start = device.start[access];
  const axes = device.role === "sled" ? [device.x, device.y] : [null];
  const ends = axes.flatMap((axis) => accessPhases(device, access, axis)).map(([, end]) => start + end * 1e9);
  return [start, run.col.completion_ns[device.row[access]], ...ends];
}

/** Finds the next (direction 1) or last (-1) boundary of phases from t: {time in ns}, or null. */
export function stepEvent(run, t, direction) {
  const moving = run.devices.filter((device) => device.accesses > 0);
  if (!moving.length) return stepRequest(run, t, direction);
  let best = Infinity;
  for (const device of moving) {
    const here = accessAt(device, t);
    for (let access = Math.max(0, here - 1); access <= Math.min(here + 1, device.accesses - 1); access++) {
      const ahead = boundariesOf(run, device, access).map((time) => (time - t) * direction);
      best = ahead.reduce((least, ns) => (ns > SAME_NS && ns < least ? ns : least), best);
    }
  }
  return best === Infinity ? null : { time: t + best * direction };
}

function stepIn(times, t, direction) {
  let i = lastAtOrBefore(times, t + SAME_NS);
  if (direction > 0) i++;
  else while (i >= 0 && times[i] > t - SAME_NS) i--;
  return i >= 0 && i < times.length ? { i, time: times[i] } : null;
}

/** Finds the next or last request of the host to start: {row, time in ns}, or null. */
export function stepRequest(run, t, direction) {
  const found = stepIn(run.hostStart, t, direction);
  return found && { row: run.hostRows[found.i], time: found.time };
}

// The best of what find gives for the choices of each device: the last in time, the first if direction is 1.
const bestChoice = (devices, direction, find) => devices.reduce((best, device) => {
  const found = find(device.choiceTime);
  return found && (!best || (found.time - best.time) * direction < 0) ? { device, ...found } : best;
}, null);

/** Finds the next or last choice of a scheduler: {device, i, time in ns}, or null. */
export const stepChoice = (run, t, direction) =>
  bestChoice(run.devices, direction, (times) => stepIn(times, t, direction));

/** Finds the last choice of any of the devices at or before t (ns): {device, i, time in ns}, or null. */
export const choiceAt = (devices, t) => bestChoice(devices, -1, (times) => {
  const i = lastAtOrBefore(times, t + SAME_NS);
  return i < 0 ? null : { i, time: times[i] };
});
