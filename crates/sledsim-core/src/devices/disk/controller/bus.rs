//! The bus between host and drive: reservations in time.

use crate::model::Busy;
use sledsim_base::units::Nanos;

/// Reserved intervals, in order, without overlap.
#[derive(Clone, Debug, Default)]
pub struct Bus {
    taken: Vec<(Nanos, Nanos)>,
    /// How long it is reserved, in all.
    pub busy: Busy,
}

impl Bus {
    /// Drops reservations that ended by `now`; none are made before it any more.
    pub fn forget(&mut self, now: Nanos) {
        let over = self.taken.iter().take_while(|(_, end)| *end <= now).count();
        if over > 0 {
            self.taken.drain(..over);
        }
    }

    /// Reserves the bus for request `id` for the length of `begin` to `end`, at `begin` or
    /// as soon as it is free that long. Returns the end.
    pub fn take(&mut self, id: u64, mut begin: Nanos, end: Nanos) -> Nanos {
        let time = end.since(begin);
        if time == Nanos::ZERO {
            return begin;
        }
        self.busy.add(id, time);
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
            self.taken.push((begin, end));
        } else {
            self.taken.insert(place, (begin, end));
        }
        end
    }
}
