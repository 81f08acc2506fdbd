//! Writes: to places of their own, or to those that were read before.

use super::places::Slots;
use serde::Serialize;
use sledsim_base::error::Result;
use sledsim_base::keys::Keys;
use sledsim_base::random::Stream;
use sledsim_base::request::Op;
use std::collections::VecDeque;

/// The key `writes`: where writes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Writes {
    /// Where reads could go, too.
    Independent,
    /// To places that the load has read, each once.
    ReadEarlier,
}

const WRITES: [(&str, Writes); 2] =
    [("independent", Writes::Independent), ("read_earlier", Writes::ReadEarlier)];

impl Writes {
    /// Reads the key, for a load with such a share of reads.
    pub(super) fn read(keys: &mut Keys, read_fraction: f64) -> Result<Self> {
        let writes = keys.opt_choice("writes", &WRITES)?;
        let none = [0.0, 1.0].contains(&read_fraction);
        if writes == Some(Self::ReadEarlier) && none {
            return Err(keys.refuse("writes", "needs a read_fraction above 0 and below 1"));
        }
        Ok(writes.unwrap_or(Self::Independent))
    }

    pub(super) fn is_independent(&self) -> bool {
        *self == Self::Independent
    }
}

/// Places that were read and will be written, the oldest first.
///
/// As a database does with pages that transactions change, a place is written once for
/// a read, whole, and in the order of the reads. As many reads are followed by a write
/// as there are writes; which ones is drawn. If no place is left to be written, the
/// last one is written again.
#[derive(Debug)]
pub(super) struct Changed {
    queue: VecDeque<Slots>,
    /// The place that is written if the queue is empty.
    last: Option<Slots>,
    share: f64,
    coins: Stream,
}

impl Changed {
    /// No place of a load with such a share of reads was read.
    pub(super) fn new(read_fraction: f64, coins: Stream) -> Self {
        Self {
            queue: VecDeque::with_capacity(1 << 12),
            last: None,
            share: ((1.0 - read_fraction) / read_fraction).min(1.0),
            coins,
        }
    }

    /// The place of a request, if it is a write and something was read.
    #[inline]
    pub(super) fn again(&mut self, op: Op) -> Option<Slots> {
        if op != Op::Write {
            return None;
        }
        self.last = self.queue.pop_front().or(self.last);
        self.last
    }

    /// Takes note of a place that was read.
    #[inline]
    pub(super) fn read(&mut self, place: Slots) {
        self.last = self.last.or(Some(place));
        if self.coins.chance(self.share) {
            self.queue.push_back(place);
        }
    }
}
