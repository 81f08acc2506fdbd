//! Seeks: the times of arm moves by distance, with settling for a read. One
//! file per model; each is expanded once to a time per distance:
//!
//! * `table`: straight lines between measured points.
//! * `three_part`: acceleration, coast and settling.
//! * `hpl`: the curve of the HP Laboratories.
//! * `datasheet`: a curve through the three times of a datasheet.
//! * `staying`: the fixed part of an access without an arm move.

mod datasheet;
mod hpl;
mod staying;
mod table;
mod three_part;

pub use datasheet::Datasheet;
pub use hpl::{Hpl, hpl};
pub use staying::fixed_access_ms;
pub use table::{rising, table};
pub use three_part::{ThreePart, three_part};

use sledsim_base::units::Nanos;

/// Seek times by distance.
#[derive(Clone, Debug, PartialEq)]
pub struct Seeks {
    /// By distance in cylinders, in ns.
    times: Vec<u32>,
    /// The least time for each distance or more; empty if `times` never fall, and are these:
    /// a search then reads one table.
    least: Vec<u32>,
    staying: Nanos,
}

impl Seeks {
    /// Creates the table from times in ms (0 to 4000): the first is for one cylinder.
    /// `fixed_access_ms` is the time of an access that stays on its cylinder.
    pub fn new(times_ms: &[f64], fixed_access_ms: f64) -> Self {
        let ns = times_ms.iter().map(|&ms| Nanos::from_ms(ms).0 as u32);
        let times: Vec<u32> = std::iter::once(0).chain(ns).collect();
        let mut least = times.clone();
        for distance in (1..least.len()).rev() {
            least[distance - 1] = least[distance - 1].min(least[distance]);
        }
        if least == times {
            least = Vec::new();
        }
        Self { times, least, staying: Nanos::from_ms(fixed_access_ms) }
    }

    /// Time for `distance` cylinders; 0 for distance 0.
    #[inline]
    pub fn time(&self, distance: u32) -> Nanos {
        Nanos(u64::from(self.times[distance as usize]))
    }

    /// Time of an access that stays on its cylinder.
    #[inline]
    pub fn staying(&self) -> Nanos {
        self.staying
    }

    /// The least of the times for `distance` cylinders or more. It never falls with the
    /// distance, as a measured time may.
    #[inline]
    pub fn at_least(&self, distance: u32) -> Nanos {
        Nanos(u64::from(self.all_at_least()[distance as usize]))
    }

    /// [`Seeks::at_least`] by distance, in ns.
    #[inline]
    pub fn all_at_least(&self) -> &[u32] {
        if self.least.is_empty() { &self.times } else { &self.least }
    }

    /// The longest distance in cylinders.
    pub fn longest(&self) -> u32 {
        self.times.len() as u32 - 1
    }

    /// Mean time between two random cylinders, in ms.
    pub fn mean_ms(&self) -> f64 {
        let cylinders = self.times.len() as f64;
        let weighted = |(distance, &ns): (usize, &u32)| {
            2.0 * (cylinders - distance as f64) * f64::from(ns) * 1e-6
        };
        let sum: f64 = self.times.iter().enumerate().map(weighted).sum();
        sum / (cylinders * cylinders)
    }

    /// Time from the first cylinder to the last, in ms.
    pub fn full_ms(&self) -> f64 {
        f64::from(self.times[self.times.len() - 1]) * 1e-6
    }
}
