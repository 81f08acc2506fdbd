//! The bus between host and drive: reservations in time.

use sledsim_base::units::Nanos;
use std::collections::VecDeque;

/// Reserved intervals, in order, without overlap.
#[derive(Clone, Debug, Default)]
pub struct Bus {
    taken: VecDeque<(Nanos, Nanos)>,
}

impl Bus {
    /// Drops reservations that ended by `now`; none are made before it any more.
    pub fn forget(&mut self, now: Nanos) {
        while self.taken.front().is_some_and(|(_, end)| *end <= now) {
            self.taken.pop_front();
        }
    }

    /// Reserves the bus for the length of `begin` to `end`, at `begin` or as soon as it
    /// is free that long. Returns the end.
    pub fn take(&mut self, mut begin: Nanos, end: Nanos) -> Nanos {
        let time = end.since(begin);
        if time == Nanos::ZERO {
            return begin;
        }
        let mut place = 0;
        for &(from, until) in &self.taken {
            if begin + time <= from {
                break;
            }
            begin = begin.max(until);
            place += 1;
        }
        let end = begin + time;
        if place == self.taken.len() {
            self.taken.push_back((begin, end));
        } else {
            self.taken.insert(place, (begin, end));
        }
        end
    }
}
