//! Waiting requests by age.

use sledsim_base::units::Nanos;

/// No slot.
const NONE: u32 = u32::MAX;

/// No cylinder: above all.
pub(super) const NO_CYLINDER: u32 = u32::MAX;

/// Places of taken requests are kept until they are more than this, and one in so many
/// of the others.
const SPARE: usize = 16;
const SHARE: usize = 8;

/// A waiting request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Age {
    /// When it arrived.
    pub arrival: Nanos,
    /// Its slot.
    pub slot: u32,
    /// Where it starts.
    pub cylinder: u32,
}

/// Requests in the order of arrival, those of one instant in the order of pushing.
#[derive(Debug, Default)]
pub(super) struct Ages {
    /// From `first` on; those taken have no slot and no cylinder.
    ages: Vec<Age>,
    /// The oldest that waits.
    first: usize,
    /// Number of requests that wait.
    waiting: usize,
    /// By slot: its index in `ages`.
    index: Vec<u32>,
}

impl Ages {
    /// Adds a request. Searches from the youngest: requests are pushed nearly in the
    /// order of arrival.
    pub fn push(&mut self, age: Age) {
        let mut at = self.ages.len();
        while at > self.first && self.ages[at - 1].arrival > age.arrival {
            at -= 1;
        }
        self.ages.insert(at, age);
        self.waiting += 1;
        if age.slot as usize >= self.index.len() {
            self.index.resize(age.slot as usize + 1, 0);
        }
        self.index_from(at);
    }

    /// Removes a slot.
    pub fn take(&mut self, slot: u32) {
        let age = &mut self.ages[self.index[slot as usize] as usize];
        (age.slot, age.cylinder) = (NONE, NO_CYLINDER);
        self.waiting -= 1;
        while self.ages.get(self.first).is_some_and(|age| age.slot == NONE) {
            self.first += 1;
        }
        if self.ages.len() > self.waiting + self.waiting / SHARE + SPARE {
            self.ages.retain(|age| age.slot != NONE);
            self.first = 0;
            self.index_from(0);
        }
    }

    /// Notes the index of each request from `at` on.
    fn index_from(&mut self, at: usize) {
        for (index, age) in self.ages.iter().enumerate().skip(at) {
            if age.slot != NONE {
                self.index[age.slot as usize] = index as u32;
            }
        }
    }

    /// When the request in a slot arrived.
    pub fn arrival(&self, slot: u32) -> Nanos {
        self.ages[self.index[slot as usize] as usize].arrival
    }

    /// The requests from the oldest on, and among them places of some that were taken, at
    /// [`NO_CYLINDER`].
    pub fn oldest_first(&self) -> &[Age] {
        &self.ages[self.first..]
    }
}
