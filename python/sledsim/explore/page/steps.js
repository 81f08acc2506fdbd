import { lastAtOrBefore } from "./search.js";
import { accessAt, accessPhases } from "./motion.js";

// Times nearer than this are the same, in ns.
const SAME_NS = 0.5;

/** Gives the boundaries of the phases of an access, ns of the run's clock. */
function boundariesOf(run, device, access) {
  const start = device.start[access];
  const times = [start, run.col.completion_ns[device.row[access]]];
  for (const axis of device.role === "sled" ? [device.x, device.y] : [null]) {
    for (const [begin, end] of accessPhases(device, access, axis)) times.push(start + begin * 1e9, start + end * 1e9);
  }
  return times;
}

/** Finds the next (direction 1) or last (-1) boundary of phases from t (ns); null if none. */
export function stepEvent(run, t, direction) {
  const moving = run.devices.filter((device) => device.accesses > 0);
  let best = Infinity;
  for (const device of moving) {
    const here = accessAt(device, t);
    for (let access = Math.max(0, here - 1); access <= Math.min(here + 1, device.accesses - 1); access++) {
      for (const time of boundariesOf(run, device, access)) {
        const ahead = (time - t) * direction;
        if (ahead > SAME_NS) best = Math.min(best, ahead);
      }
    }
  }
  if (!moving.length) return stepIn(run.hostStart, t, direction)?.time ?? null;
  return best === Infinity ? null : t + best * direction;
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

/** Finds the next or last choice of a scheduler: {device, i, time in ns}, or null. */
export function stepChoice(run, t, direction) {
  let best = null;
  for (const device of run.devices) {
    const found = stepIn(device.choiceTime, t, direction);
    if (found && (!best || (found.time - best.time) * direction < 0)) best = { device, ...found };
  }
  return best;
}

/** Finds the last choice at or before t (ns) in a run: {device, i, time in ns}, or null. */
export function choiceAt(run, t) {
  let best = null;
  for (const device of run.devices) {
    const i = lastAtOrBefore(device.choiceTime, t + SAME_NS);
    if (i >= 0 && (!best || device.choiceTime[i] > best.time)) best = { device, i, time: device.choiceTime[i] };
  }
  return best;
}
