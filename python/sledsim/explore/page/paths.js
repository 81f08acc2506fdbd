import { axisAt, phaseOf } from "./motion.js";

const KEPT_PATHS = 64;
const POINTS_A_PHASE = 8;
const MOST_POINTS = 4000;

function cutsOf(axis, access, cuts) {
  let at = 0;
  for (let i = axis.first[access]; i < axis.first[access + 1]; i++) {
    const fine = (axis.how[i] & 3) !== 0 && phaseOf(axis, i) !== 4 ? POINTS_A_PHASE : 1;
    for (let j = 0; j < fine; j++) cuts.push(at + axis.s[i] * j / fine);
    at += axis.s[i];
  }
  cuts.push(at);
}

function samplePath(device, access) {
  let cuts = [];
  cutsOf(device.x, access, cuts);
  cutsOf(device.y, access, cuts);
  cuts.sort((a, b) => a - b);
  const stride = Math.ceil(cuts.length / MOST_POINTS);
  if (stride > 1) cuts = cuts.filter((_, i) => i % stride === 0);
  const path = { t: [], x: [], y: [], passes: [] };
  for (const tau of cuts) {
    if (path.t.length && tau - path.t.at(-1) < 1e-10) continue;
    const y = axisAt(device.y, access, tau);
    path.t.push(tau);
    path.x.push(axisAt(device.x, access, tau).place);
    path.y.push(y.place);
    path.passes.push(y.phase === 4);
  }
  return path;
}

/** Gives the paths of the last accesses up to one: points with t (s), x, y (m), and whether it passes on. */
export function recentPaths(device, access, count) {
  const paths = [];
  for (let k = Math.max(0, access - count + 1); k <= access; k++) {
    if (!device.paths.has(k)) {
      if (device.paths.size >= KEPT_PATHS) device.paths.clear();
      device.paths.set(k, samplePath(device, k));
    }
    paths.push(device.paths.get(k));
  }
  return paths;
}
