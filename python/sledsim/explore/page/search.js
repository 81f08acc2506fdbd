/** Finds the index of the last of the sorted values that is not above the key; -1 if none. */
export function lastAtOrBefore(values, key) {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle] <= key) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Sums counts up: item i is where the parts of i begin, the last item is their total. */
export function prefixSums(counts, length) {
  const first = new Uint32Array(length + 1);
  for (let i = 0; i < length; i++) first[i + 1] = first[i] + (counts ? counts[i] : 0);
  return first;
}
