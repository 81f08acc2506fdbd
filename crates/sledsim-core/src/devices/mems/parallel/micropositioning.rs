//! Micropositioning: tips that reach neighbouring cylinders.

use sledsim_base::error::Result;
use sledsim_base::keys::{Keys, Range};
use sledsim_base::units::Nanos;

/// By how many cylinders in either direction a single tip can be moved from the
/// position of the sled (CMU-CS-03-125, section 2.2). It may change during a run: tips
/// that follow expanding or contracting media have less reach left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Micropositioning {
    /// Cylinders at the start.
    cylinders: u32,
    /// Later changes, in the order of time.
    later: Vec<(Nanos, u32)>,
}

impl Micropositioning {
    /// A constant reach.
    pub fn new(cylinders: u32) -> Self {
        Self { cylinders, later: Vec::new() }
    }

    /// Reads `micropositioning_cylinders` and
    /// `micropositioning_later`, a list of `[from_s, cylinders]`.
    ///
    /// # Errors
    /// A key that is not allowed, or times that do not rise.
    pub fn read(keys: &mut Keys) -> Result<Self> {
        let most = 1_000_000;
        let cylinders = keys.u32("micropositioning_cylinders", 0..=most)?;
        let range = |high: f64| Range::at_least(0.0).at_most(high);
        let key = "micropositioning_later";
        let allowed = [range(1e9), range(f64::from(most))];
        let rows = keys.opt_f64_rows(key, allowed)?.unwrap_or_default();
        let mut later: Vec<(Nanos, u32)> = Vec::with_capacity(rows.len());
        for (index, [from_s, cylinders]) in rows.into_iter().enumerate() {
            if cylinders.fract() != 0.0 {
                return Err(keys.refuse_item(key, index, "cylinders must be an integer"));
            }
            let from = Nanos::from_s(from_s);
            if later.last().is_some_and(|(before, _)| *before >= from) {
                return Err(keys.refuse_item(key, index, "must begin later than the one before"));
            }
            later.push((from, cylinders as u32));
        }
        Ok(Self { cylinders, later })
    }

    /// The largest reach at any time.
    pub fn most(&self) -> u32 {
        let later = self.later.iter().map(|(_, cylinders)| *cylinders);
        later.fold(self.cylinders, u32::max)
    }

    /// Cylinders in either direction at `at`.
    pub fn at(&self, at: Nanos) -> u32 {
        let past = self.later.partition_point(|(from, _)| *from <= at);
        match past.checked_sub(1) {
            Some(index) => self.later[index].1,
            None => self.cylinders,
        }
    }
}
