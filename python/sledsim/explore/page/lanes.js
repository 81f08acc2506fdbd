import { lastAtOrBefore } from "./search.js";
import { orderCauses } from "./theme.js";

/** Builds the lane of a device in the time line: its rows, when service of each began (ns), its causes. */
export function buildLane(run, device) {
  const [rows, { start_ns: start, completion_ns: completion }] = [device.rowsHere, run.col];
  const served = orderCauses(run.causes).filter((cause) => cause !== "queue" && cause !== "overhead");
  const columns = served.map((cause) => run.col[`${cause}_ns`]);
  const begin = Float64Array.from(rows, (row) => columns.reduce((t, column) => t - column[row], completion[row]));
  let latest = 0;
  const busyTo = Float64Array.from(rows, (row) => (latest = Math.max(latest, completion[row])));
  const starts = Float64Array.from(rows, (row) => start[row]);
  return { run, device, causes: served, columns, rows, begin, busyTo, starts };
}

/** Gives which of a lane's rows may show between two times (ns): [first, end) in lane.rows. */
export function rowsBetween(lane, from, to) {
  const first = lastAtOrBefore(lane.busyTo, from) + 1;
  return [first, Math.max(first, lastAtOrBefore(lane.starts, to) + 1)];
}

/** Finds the row of a lane in service at a time (ns), else the next to begin; -1 if none. */
export function rowAt(lane, t) {
  const [first, end] = rowsBetween(lane, t, t);
  for (let i = end - 1; i >= first; i--) {
    if (lane.begin[i] <= t && lane.run.col.completion_ns[lane.rows[i]] >= t) return lane.rows[i];
  }
  return lane.rows[Math.min(end, lane.rows.length - 1)] ?? -1;
}

/** Gives the mean number of requests in service, by cause, in so many equal cells between two times (ns). */
export function sharesBetween(lane, from, to, cells) {
  const [scale, causes] = [cells / (to - from), lane.columns.length];
  const shares = new Float32Array(cells * causes);
  const [first, end] = rowsBetween(lane, from, to);
  for (let i = first; i < end; i++) {
    let t = (lane.begin[i] - from) * scale;
    for (let c = 0; c < causes; c++) {
      const next = t + lane.columns[c][lane.rows[i]] * scale;
      for (let cell = Math.max(0, Math.floor(t)); cell < next && cell < cells; cell++) {
        shares[cell * causes + c] += Math.min(next, cell + 1) - Math.max(t, cell);
      }
      t = next;
    }
  }
  return shares;
}
