import { lastAtOrBefore, prefixSums } from "./search.js";

const ARRAYS = {
  f64: Float64Array, f32: Float32Array, u32: Uint32Array, i32: Int32Array,
  u16: Uint16Array, u8: Uint8Array, i8: Int8Array,
};
const CHUNK = 1 << 20;

function decodeBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** Decodes the base64 of a gzip to an ArrayBuffer, piece by piece. */
export function decodePayload(text) {
  const dense = /\s/.test(text) ? text.replace(/\s+/g, "") : text;
  let at = 0;
  const pieces = new ReadableStream({
    pull(controller) {
      if (at < dense.length) controller.enqueue(decodeBase64(dense.slice(at, at + CHUNK)));
      else controller.close();
      at += CHUNK;
    },
  });
  return new Response(pieces.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

function viewColumns(columns, buffer) {
  const views = {};
  for (const [name, { type, at, count }] of Object.entries(columns)) {
    views[name] = new ARRAYS[type](buffer, at, count);
  }
  return views;
}

function viewAxis(head, col, axis) {
  const of = (name) => col[`${axis}_${name}`] ?? [];
  const [m, how, w] = [of("m"), of("how"), head[`w_${axis}`] ?? 0];
  // Against springs the net acceleration is the push less w^2 p.
  const a = Float64Array.from(of("push_m_s2"), (push, i) => (how[i] & 3) === 1 ? push - w * w * m[i] : push);
  return {
    first: prefixSums(col[`${axis}_count`], col.row?.length ?? 0), w, s: of("s"), m, v: of("m_s"), a, how,
  };
}

function buildDevice(head, index, run, buffer) {
  const col = viewColumns(head.columns ?? {}, buffer);
  const row = col.row ?? new Uint32Array(0);
  const n = row.length;
  const device = {
    ...head, index, col, row, accesses: n, start: new Float64Array(n),
    passFirst: prefixSums(col.pass_count, n),
  };
  for (let i = n - 1; i >= 0; i--) {
    device.start[i] = run.col.start_ns[row[i]];
    run.accessOf[row[i]] = i;
  }
  const choices = col.choice_row ?? new Uint32Array(0);
  device.choiceTime = Float64Array.from(choices, (taken) => run.col.start_ns[taken]);
  device.choiceFirst = prefixSums(col.choice_count, choices.length);
  if (head.role === "sled") {
    device.x = viewAxis(head, col, "x");
    device.y = viewAxis(head, col, "y");
    device.xOffset = findOffset(device);
    device.paths = new Map();
  }
  return device;
}

// The cylinder at x = 0, as a fraction, from the first pass: where X stands then.
function findOffset(device) {
  const { x, y, col, bit_m: bit } = device;
  for (let k = 0; k < Math.min(device.accesses, 100); k++) {
    const last = x.first[k + 1] - 1;
    const single = device.passFirst[k + 1] - device.passFirst[k] === 1;
    if (single && last >= x.first[k] && y.first[k + 1] > y.first[k] && (x.how[last] & 3) === 0) {
      return Math.round(2 * (col.pass_cylinder[device.passFirst[k]] - x.m[last] / bit)) / 2;
    }
  }
  return (device.cylinders - 1) / 2;
}

function rowsByDevice(deviceOfRow, count) {
  const sizes = new Uint32Array(count);
  for (const device of deviceOfRow) sizes[device]++;
  const lists = Array.from(sizes, (size) => new Uint32Array(size));
  sizes.fill(0);
  for (let row = 0; row < deviceOfRow.length; row++) {
    const device = deviceOfRow[row];
    lists[device][sizes[device]++] = row;
  }
  return lists;
}

// Lists of the rows that serve a row: the first, then from one to the next; -1 ends.
function linkChildren(run) {
  const { parent } = run.col;
  run.firstChild = new Int32Array(run.rows).fill(-1);
  run.nextChild = new Int32Array(run.rows).fill(-1);
  let hosts = 0;
  for (let row = run.rows - 1; row >= 0; row--) {
    const above = parent[row];
    if (above === -1) hosts++;
    if (above < 0) continue;
    run.nextChild[row] = run.firstChild[above];
    run.firstChild[above] = row;
  }
  run.hostRows = new Uint32Array(hosts);
  run.hostStart = new Float64Array(hosts);
  for (let row = 0, i = 0; row < run.rows; row++) {
    if (parent[row] !== -1) continue;
    run.hostRows[i] = row;
    run.hostStart[i++] = run.col.start_ns[row];
  }
}

/** Builds a run from its head and the decoded data: columns as typed arrays, and indices over them. */
export function buildRun(head, buffer, index) {
  const run = { ...head, index, col: viewColumns(head.columns, buffer) };
  run.accessOf = new Int32Array(run.rows).fill(-1);
  run.devices = head.devices.map((device, i) => buildDevice(device, i, run, buffer));
  rowsByDevice(run.col.device, run.devices.length).forEach((rows, i) => (run.devices[i].rowsHere = rows));
  linkChildren(run);
  return run;
}

/** Counts the requests a device holds at t (ns): arrived and not completed. */
export function countHeld(run, device, t) {
  if (!device.held) {
    const sorted = (name) => Float64Array.from(device.rowsHere, (row) => run.col[name][row]).sort();
    device.held = [sorted("arrival_ns"), sorted("completion_ns")];
  }
  return lastAtOrBefore(device.held[0], t) - lastAtOrBefore(device.held[1], t);
}
