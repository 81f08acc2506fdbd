//! Deadline: sweeps upwards in batches, reads before writes, and none waits for ever.

use super::ages::{Age, Ages};
use super::by_lbn::{ByLbn, Location};
use super::{Scheduler, SchedulerEntry, Waiting};
use crate::model::mechanism::Positions;
use sledsim_base::error::Result;
use sledsim_base::keys::{Keys, Range};
use sledsim_base::request::Op;
use sledsim_base::units::Nanos;
use std::sync::Arc;

/// As the I/O scheduler `mq-deadline` of Linux is described (Documentation/block/
/// deadline-iosched.rst; block/mq-deadline.c, Linux 6.1), without merges and priorities.
///
/// Reads and writes wait apart, each in the order of LBNs and in the order of arrival. Up to
/// `fifo_batch` requests of one kind go upwards from where the last of that kind began. Then
/// reads come first, until writes were passed over `writes_starved` times. A batch begins
/// where the last of its kind ended, or with the oldest of its kind if that has waited for its
/// time, or nothing is above.
#[derive(Debug)]
pub struct Deadline {
    settings: Settings,
    reads: Kind,
    writes: Kind,
    /// Whether the last batch is of writes, and how many of it were taken.
    in_writes: bool,
    batched: u32,
    /// How often writes were passed over.
    starved: u32,
}

#[derive(Clone, Copy, Debug)]
struct Settings {
    read_expire: Nanos,
    write_expire: Nanos,
    writes_starved: u32,
    fifo_batch: u32,
}

/// The waiting requests of one kind.
#[derive(Debug)]
struct Kind {
    waiting: ByLbn,
    ages: Ages,
    expire: Nanos,
}

/// Its registration.
pub(super) const ENTRY: SchedulerEntry = SchedulerEntry {
    name: "deadline",
    needs_positions: false,
    moves_to_edges: false,
    read: |keys| {
        let settings = Settings::read(keys)?;
        Ok(Arc::new(move || Box::new(Deadline::new(settings))))
    },
};

impl Settings {
    fn read(keys: &mut Keys) -> Result<Self> {
        let times_ms = Range::at_least(0.0).at_most(1e9);
        let read_ms = keys.opt_f64("read_expire_ms", times_ms)?.unwrap_or(500.0);
        let write_ms = keys.opt_f64("write_expire_ms", times_ms)?.unwrap_or(5000.0);
        Ok(Self {
            read_expire: Nanos::from_ms(read_ms),
            write_expire: Nanos::from_ms(write_ms),
            writes_starved: keys.opt_u32("writes_starved", 0..=1_000_000)?.unwrap_or(2),
            fifo_batch: keys.opt_u32("fifo_batch", 1..=1_000_000)?.unwrap_or(16),
        })
    }
}

impl Kind {
    fn new(expire: Nanos) -> Self {
        Self { waiting: ByLbn::new(true), ages: Ages::default(), expire }
    }

    fn push(&mut self, waiting: Waiting) {
        let arrival = waiting.request.arrival;
        let slot = self.waiting.push(waiting);
        self.ages.push(Age { arrival, slot, cylinder: 0 });
    }

    fn is_empty(&self) -> bool {
        self.waiting.first().is_none()
    }

    /// Where a batch begins.
    fn first_of_batch(&self, at: Nanos) -> Option<Location> {
        let oldest = self.ages.oldest_first().first()?;
        match self.waiting.ahead() {
            Some(ahead) if oldest.arrival + self.expire > at => Some(ahead),
            _ => self.waiting.location_of(oldest.slot),
        }
    }

    fn take(&mut self, location: Location) -> Waiting {
        self.ages.take(location.slot());
        self.waiting.take(location)
    }
}

impl Deadline {
    fn new(settings: Settings) -> Self {
        Self {
            settings,
            reads: Kind::new(settings.read_expire),
            writes: Kind::new(settings.write_expire),
            in_writes: false,
            batched: 0,
            starved: 0,
        }
    }

    fn kind(&mut self) -> &mut Kind {
        if self.in_writes { &mut self.writes } else { &mut self.reads }
    }

    /// Whether the next batch is of writes.
    fn writes_next(&mut self) -> bool {
        if self.reads.is_empty() {
            return true;
        }
        if self.writes.is_empty() {
            return false;
        }
        self.starved += 1;
        self.starved > self.settings.writes_starved
    }
}

impl Scheduler for Deadline {
    fn push(&mut self, waiting: Waiting, _positions: &dyn Positions) {
        match waiting.request.op {
            Op::Read => self.reads.push(waiting),
            _ => self.writes.push(waiting),
        }
    }

    fn pop(&mut self, at: Nanos, _positions: &dyn Positions) -> Option<Waiting> {
        if self.reads.is_empty() && self.writes.is_empty() {
            return None;
        }
        if self.batched < self.settings.fifo_batch
            && let Some(next) = self.kind().waiting.ahead()
        {
            self.batched += 1;
            return Some(self.kind().take(next));
        }
        self.in_writes = self.writes_next();
        if self.in_writes {
            self.starved = 0;
        }
        self.batched = 1;
        let first = self.kind().first_of_batch(at)?;
        Some(self.kind().take(first))
    }
}
