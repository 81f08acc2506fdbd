import { lastAtOrBefore } from "./search.js";
import { orderCauses } from "./theme.js";

const MOST_BINS = 1 << 17;
const FEWEST_BINS = 512;

/** Builds the lane of a device in the time line: its rows, and time by cause in bins of many widths. */
export function buildLane(run, device, end) {
  const causes = orderCauses(run.causes).filter((cause) => cause !== "queue" && cause !== "overhead");
  const columns = causes.map((cause) => run.col[`${cause}_ns`]);
  const rows = device.rowsHere;
  const lane = { run, device, causes, columns, rows, end, begin: new Float64Array(rows.length) };
  const [busyTo, free] = [new Float64Array(rows.length), []];
  lane.level = new Uint8Array(rows.length);
  let latest = 0;
  for (let i = 0; i < rows.length; i++) {
    const completion = run.col.completion_ns[rows[i]];
    let service = 0;
    for (const column of columns) service += column[rows[i]];
    const begin = (lane.begin[i] = completion - service);
    busyTo[i] = latest = Math.max(latest, completion);
    let level = 0;
    while (level < 7 && free[level] > begin + 1) level++;
    free[level] = completion;
    lane.level[i] = level;
  }
  lane.busyTo = busyTo;
  lane.levels = Math.max(1, free.length);
  lane.bins = fillBins(lane);
  return lane;
}

// Time by cause in equal bins of the whole run, then in bins twice as wide, and so on.
function fillBins(lane) {
  const { rows, columns, begin, end } = lane;
  let count = FEWEST_BINS;
  while (count < rows.length && count < MOST_BINS) count *= 2;
  const causes = columns.length;
  const finest = new Float32Array(count * causes);
  const scale = count / end;
  for (let i = 0; i < rows.length; i++) {
    let t = begin[i] * scale;
    for (let c = 0; c < causes; c++) {
      const to = t + columns[c][rows[i]] * scale;
      for (let bin = Math.floor(Math.max(0, t)); bin < to && bin < count; bin++) {
        finest[bin * causes + c] += Math.min(to, bin + 1) - Math.max(t, bin);
      }
      t = to;
    }
  }
  const bins = [{ count, shares: finest }];
  while (bins.at(-1).count > FEWEST_BINS / 2) {
    const fine = bins.at(-1).shares;
    const shares = new Float32Array(fine.length / 2);
    for (let bin = 0; bin < bins.at(-1).count / 2; bin++) {
      const at = 2 * bin * causes;
      for (let c = 0; c < causes; c++) shares[bin * causes + c] = (fine[at + c] + fine[at + causes + c]) / 2;
    }
    bins.push({ count: bins.at(-1).count / 2, shares });
  }
  return bins;
}

/** Gives which of a lane's rows may show between two times (ns): [first, end) in lane.rows. */
export function rowsBetween(lane, from, to) {
  const first = lastAtOrBefore(lane.busyTo, from) + 1;
  let [low, high] = [first, lane.rows.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (lane.run.col.start_ns[lane.rows[middle]] <= to) low = middle + 1;
    else high = middle;
  }
  return [first, Math.max(first, low)];
}

/** Finds the row of a lane at a time (ns): the one in service then, else the nearest to begin; -1 if none. */
export function rowAt(lane, t, level = -1) {
  const [first, end] = rowsBetween(lane, t, t);
  for (let i = end - 1; i >= first; i--) {
    const row = lane.rows[i];
    if (level >= 0 && lane.level[i] !== level) continue;
    if (lane.begin[i] <= t && lane.run.col.completion_ns[row] >= t) return row;
  }
  return level >= 0 ? rowAt(lane, t) : lane.rows[Math.min(end, lane.rows.length - 1)] ?? -1;
}
