//! Data for plots of a trace, in constant memory: bins double their width when
//! their range is exceeded.

use serde::Serialize;

const TIMES: usize = 512;
const PLACES: usize = 256;
/// The initial widths: 1.024 us, 8 blocks.
const TIME_SHIFT: u32 = 10;
const PLACE_SHIFT: u32 = 3;

/// The data of a plot of arrivals per time.
#[derive(Clone, Debug, Serialize)]
pub struct TimelinePicture {
    /// The width of a bin, in s.
    pub bin_s: f64,
    /// Reads in each bin.
    pub reads: Vec<u64>,
    /// Other requests in each bin.
    pub others: Vec<u64>,
}

/// The data of a plot of requests by time and first block.
#[derive(Clone, Debug, Serialize)]
pub struct MapPicture {
    /// The width of a bin, in s.
    pub time_bin_s: f64,
    /// The height of a bin, in blocks.
    pub place_bin_blocks: u64,
    /// Requests in each bin, a row for each time.
    pub counts: Vec<Vec<u32>>,
    /// The number of the device.
    pub device: u32,
}

/// Arrivals per time: reads, and everything else.
pub(super) struct Timeline {
    shift: u32,
    counts: Vec<[u64; 2]>,
}

impl Timeline {
    pub fn new() -> Self {
        Self { shift: TIME_SHIFT, counts: vec![[0; 2]; TIMES] }
    }

    #[inline]
    pub fn record(&mut self, at: u64, is_read: bool) {
        while at >> self.shift >= TIMES as u64 {
            for bin in 0..TIMES {
                self.counts[bin] = [0, 1].map(|kind| {
                    let pair = self.counts.get(2 * bin..2 * bin + 2).unwrap_or_default();
                    pair.iter().map(|counts| counts[kind]).sum()
                });
            }
            self.shift += 1;
        }
        self.counts[(at >> self.shift) as usize][usize::from(!is_read)] += 1;
    }

    pub fn picture(&self) -> TimelinePicture {
        let used = used(self.counts.iter().map(|counts| counts[0] + counts[1]));
        let counts = |kind: usize| -> Vec<u64> {
            (self.counts[..used].iter()).map(|counts| counts[kind]).collect()
        };
        let bin_s = (1_u64 << self.shift) as f64 * 1e-9;
        TimelinePicture { bin_s, reads: counts(0), others: counts(1) }
    }
}

/// Requests by time and first block.
#[derive(Clone)]
pub(super) struct Map {
    time_shift: u32,
    place_shift: u32,
    /// Row by row, a row for each time.
    counts: Vec<u32>,
}

impl Map {
    pub fn new() -> Self {
        Self { time_shift: TIME_SHIFT, place_shift: PLACE_SHIFT, counts: vec![0; TIMES * PLACES] }
    }

    #[inline]
    pub fn record(&mut self, at: u64, block: u64) {
        while at >> self.time_shift >= TIMES as u64 {
            self.fold(|row, column| [(2 * row, column), (2 * row + 1, column)]);
            self.time_shift += 1;
        }
        while block >> self.place_shift >= PLACES as u64 {
            self.fold(|row, column| [(row, 2 * column), (row, 2 * column + 1)]);
            self.place_shift += 1;
        }
        let (row, column) = (at >> self.time_shift, block >> self.place_shift);
        let count = &mut self.counts[row as usize * PLACES + column as usize];
        *count = count.saturating_add(1);
    }

    /// Replaces every bin by the sum of two, neither of which precedes it.
    fn fold(&mut self, pair: impl Fn(usize, usize) -> [(usize, usize); 2]) {
        for row in 0..TIMES {
            for column in 0..PLACES {
                let both = pair(row, column).map(|(row, column)| {
                    let inside = row < TIMES && column < PLACES;
                    if inside { self.counts[row * PLACES + column] } else { 0 }
                });
                self.counts[row * PLACES + column] = both[0].saturating_add(both[1]);
            }
        }
    }

    pub fn picture(&self, device: u32) -> MapPicture {
        let rows = || self.counts.chunks_exact(PLACES);
        let times = used(rows().map(|row| row.iter().map(|&count| u64::from(count)).sum()));
        let column = |column: usize| rows().map(|row| u64::from(row[column])).sum();
        let places = used((0..PLACES).map(column));
        MapPicture {
            time_bin_s: (1_u64 << self.time_shift) as f64 * 1e-9,
            place_bin_blocks: 1 << self.place_shift,
            counts: rows().take(times).map(|row| row[..places].to_vec()).collect(),
            device,
        }
    }
}

/// The number of bins up to the last one that is not empty.
fn used(mut counts: impl DoubleEndedIterator<Item = u64> + ExactSizeIterator) -> usize {
    counts.rposition(|count| count > 0).map_or(0, |last| last + 1)
}
