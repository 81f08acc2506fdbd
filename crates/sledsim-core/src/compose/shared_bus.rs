//! A bus that several devices share, each of which transfers as if it were alone.

use crate::devices::disk::controller::BusTimes;
use crate::model::Busy;
use sledsim_base::request::Op;
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use std::collections::VecDeque;

/// How long before a completion its data may begin to cross.
const WINDOW: Nanos = Nanos(1_000_000_000);

/// The bus in front of several devices.
///
/// The data of a request cross in free time, as late as possible: between its start and its
/// completion by the device, and what does not fit there after it. So the bus never carries
/// more than its rate, and delays no request that it has the time for.
#[derive(Clone, Debug)]
pub(super) struct SharedBus {
    times: BusTimes,
    /// Busy intervals in order, none of which touches the next.
    taken: VecDeque<(Nanos, Nanos)>,
    /// How long it was busy.
    pub(super) busy: Busy,
}

impl SharedBus {
    /// A bus that takes such times for a block.
    pub(super) fn new(times: BusTimes) -> Self {
        Self { times, taken: VecDeque::new(), busy: Busy::default() }
    }

    /// Nothing is under way any more.
    pub(super) fn forget(&mut self) {
        self.taken.clear();
    }

    /// Takes the data of request `id`, a part of which a device has completed as `row`;
    /// returns when they have crossed. Rows come in the order of their completions.
    pub(super) fn carry(&mut self, id: u64, row: &Row) -> Nanos {
        let per_block = match row.op {
            Op::Read => self.times.read_ns_per_block,
            Op::Write => self.times.write_ns_per_block,
            _ => 0.0,
        };
        let time = Nanos((f64::from(row.blocks) * per_block + 0.5) as u64);
        let ready = row.completion;
        if time == Nanos::ZERO {
            return ready;
        }
        self.busy.add(id, time);
        let oldest = ready.since(WINDOW);
        while self.taken.front().is_some_and(|(_, end)| *end < oldest) {
            self.taken.pop_front();
        }
        let begin = row.start.min(ready.since(time)).max(oldest);
        // Filled from the back, it is busy without a pause from `start` to `end`.
        let (mut start, mut end, mut left) = (ready, ready, time);
        loop {
            let free = match self.taken.back() {
                Some(&(from, until)) if until >= start => {
                    self.taken.pop_back();
                    (start, end) = (start.min(from), end.max(until));
                    continue;
                }
                Some(&(_, until)) => start.since(until.max(begin)),
                None => start.since(begin),
            };
            let used = left.min(free);
            if used == Nanos::ZERO {
                break;
            }
            (start, left) = (start.since(used), left.since(used));
        }
        end += left;
        self.taken.push_back((start, end));
        match left {
            Nanos::ZERO => ready,
            _ => end,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sledsim_base::random::Stream;

    /// Nanosecond by nanosecond: takes the last free ones up to `ready`, then the first
    /// behind it.
    fn by_slots(taken: &mut [bool], begin: usize, ready: usize, time: usize) -> usize {
        let before = (begin..ready).rev().filter(|slot| !taken[*slot]);
        let slots: Vec<usize> = before.take(time).collect();
        let behind = (ready..taken.len()).filter(|slot| !taken[*slot]);
        let behind: Vec<usize> = behind.take(time - slots.len()).collect();
        for slot in slots.into_iter().chain(behind.iter().copied()) {
            taken[slot] = true;
        }
        behind.last().map_or(ready, |slot| slot + 1)
    }

    #[test]
    fn data_cross_in_free_time_as_late_as_possible() {
        for seed in 0..300 {
            let mut random = Stream::new(seed, "bus");
            let times = BusTimes {
                read_ns_per_block: 1.0 + random.below(4) as f64,
                write_ns_per_block: 1.0,
                ..BusTimes::default()
            };
            let (mut bus, mut taken) = (SharedBus::new(times), vec![false; 20_000]);
            let gap = 1 + random.below(60);
            let mut completion = Nanos::ZERO;
            for id in 0..150 {
                completion += Nanos(random.below(gap));
                let is_read = random.below(2) == 0;
                let row = Row {
                    op: if is_read { Op::Read } else { Op::Write },
                    blocks: random.below(20) as u32,
                    start: completion.since(Nanos(random.below(150))),
                    completion,
                    ..Row::default()
                };
                let per_block = if is_read { times.read_ns_per_block as usize } else { 1 };
                let (time, ready) = (row.blocks as usize * per_block, completion.0 as usize);
                let begin = (row.start.0 as usize).min(ready.saturating_sub(time));
                let expected = by_slots(&mut taken, begin, ready, time);
                assert_eq!(bus.carry(id, &row), Nanos(expected as u64), "{seed} {id} {row:?}");
            }
            let busy = taken.iter().filter(|slot| **slot).count();
            assert_eq!(bus.busy.total(), Nanos(busy as u64));
        }
    }
}
