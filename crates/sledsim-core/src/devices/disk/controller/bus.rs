//! The bus between host and drive: who has it when.

use sledsim_base::units::Nanos;
use std::collections::VecDeque;

/// Times at which the bus is taken, in order, without overlap.
#[derive(Clone, Debug, Default)]
pub struct Bus {
    taken: VecDeque<(Nanos, Nanos)>,
}

impl Bus {
    /// Forgets what lies before `now`; nothing is asked for before it any more.
    pub fn forget(&mut self, now: Nanos) {
        while self.taken.front().is_some_and(|(_, end)| *end <= now) {
            self.taken.pop_front();
        }
    }

    /// Takes the bus for as long as from `begin` to `end`, then or as soon
    /// after as it is free for so long; when it is given back.
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
