//! Bands: the division of a range for columns and regions.

use std::ops::Range;

/// `count` (at least one) bands of `0..all`, whose bounds are the multiples of
/// all / count rounded to the nearest, halves up: sizes differ by at most one,
/// and the larger ones are spread out.
pub(super) fn bands(all: u32, count: u32) -> Vec<Range<u32>> {
    let (all, count) = (u64::from(all), u64::from(count));
    let bound = |k: u64| ((2 * k * all + count) / (2 * count)) as u32;
    (0..count).map(|k| bound(k)..bound(k + 1)).collect()
}

/// The distance of band `index` of `count` from the middle one, in half bands.
pub(super) fn off_centre(index: usize, count: usize) -> u64 {
    (2 * index + 1).abs_diff(count) as u64
}
