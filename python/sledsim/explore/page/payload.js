import { lastAtOrBefore, prefixSums } from "./search.js";

const [ARRAYS, CHUNK] = [{ f64: Float64Array, f32: Float32Array, u32: Uint32Array, i32: Int32Array }, 1 << 20];
Object.assign(ARRAYS, { u16: Uint16Array, u8: Uint8Array, i8: Int8Array });

function decodeBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const binary = atob(text);
  return new Uint8Array(binary.length).map((_, i) => binary.charCodeAt(i));
}

/** Decodes the base64 of a gzip to an ArrayBuffer, piece by piece. */
export function decodePayload(text) {
  const [dense, pieces] = [/\s/.test(text) ? text.replace(/\s+/g, "") : text, []];
  for (let at = 0; at < dense.length; at += CHUNK) pieces.push(decodeBase64(dense.slice(at, at + CHUNK)));
  return new Response(new Blob(pieces).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

function viewColumns(columns, buffer) {
  const view = ([name, { type, at, count }]) => [name, new ARRAYS[type](buffer, at, count)];
  return Object.fromEntries(Object.entries(columns).map(view));
}

function viewAxis(device, axis) {
  const of = (name) => device.col[`${axis}_${name}`] ?? [];
  const first = prefixSums(device.col[`${axis}_count`], device.accesses);
  const [w, m, how] = [device[`w_${axis}`] ?? 0, of("m"), of("how")];
  // Against springs the net acceleration is the push less w^2 p.
  const a = Float64Array.from(of("push_m_s2"), (push, i) => (how[i] & 3) === 1 ? push - w * w * m[i] : push);
  return { first, w, s: of("s"), m, v: of("m_s"), a, how };
}

function buildDevice(head, index, run, buffer) {
  const col = viewColumns(head.columns ?? {}, buffer);
  const [row, choices] = [col.row ?? new Uint32Array(0), col.choice_row ?? new Uint32Array(0)];
  const start = Float64Array.from(row, (served) => run.col.start_ns[served]);
  for (let i = row.length - 1; i >= 0; i--) run.accessOf[row[i]] = i;
  const device = {
    ...head, index, col, row, start, accesses: row.length, passFirst: prefixSums(col.pass_count, row.length),
    choiceTime: Float64Array.from(choices, (taken) => run.col.start_ns[taken]),
    choiceFirst: prefixSums(col.choice_count, choices.length),
    rowsHere: Uint32Array.from(run.rowsOf[index]),
  };
  if (head.role !== "sled") return device;
  // The cylinder in the middle is at x = 0.
  const xOffset = Math.floor(head.cylinders / 2);
  return Object.assign(device, { x: viewAxis(device, "x"), y: viewAxis(device, "y"), paths: new Map(), xOffset });
}

// Lists the rows of the host and of each device, and links those that serve a row: the first, then on; -1 ends.
function indexRows(run) {
  const { parent, device, start_ns: start } = run.col;
  run.firstChild = new Int32Array(run.rows).fill(-1);
  run.nextChild = new Int32Array(run.rows).fill(-1);
  run.rowsOf = run.devices.map(() => []);
  run.hostRows = [];
  for (let row = 0; row < run.rows; row++) {
    run.rowsOf[device[row]].push(row);
    if (parent[row] === -1) run.hostRows.push(row);
    if (parent[row] < 0) continue;
    run.nextChild[row] = run.firstChild[parent[row]];
    run.firstChild[parent[row]] = row;
  }
  run.hostStart = Float64Array.from(run.hostRows, (row) => start[row]);
}

/** Builds a run from its head and the decoded data: columns as typed arrays, and indices over them. */
export function buildRun(head, buffer, index) {
  const run = { ...head, index, col: viewColumns(head.columns, buffer) };
  run.accessOf = new Int32Array(run.rows).fill(-1);
  indexRows(run);
  run.devices = head.devices.map((device, i) => buildDevice(device, i, run, buffer));
  return run;
}

/** Counts the requests a device holds at t (ns): arrived and not completed. */
export function countHeld(run, device, t) {
  const sorted = (name) => Float64Array.from(device.rowsHere, (row) => run.col[name][row]).sort();
  device.held ??= [sorted("arrival_ns"), sorted("completion_ns")];
  return lastAtOrBefore(device.held[0], t) - lastAtOrBefore(device.held[1], t);
}
