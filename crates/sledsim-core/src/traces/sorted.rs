//! Records put in the order of their times, within a window.

use super::order::Sorter;
use super::{Reader, Record};
use crate::error::Result;
use crate::units::Nanos;

/// The records of a reader in the order of their times. A record that is
/// later in the file than one whose time is up to `window` higher comes before
/// it; equal times keep the order of the file. Memory grows with the records
/// of a window.
pub(super) struct Sorted {
    pub reader: Box<dyn Reader>,
    window: Nanos,
    waiting: Sorter<Record>,
    latest: Nanos,
    ended: bool,
}

impl Sorted {
    pub fn new(reader: Box<dyn Reader>, window: Nanos) -> Self {
        Self {
            reader,
            window,
            waiting: Sorter::new(),
            latest: Nanos::ZERO,
            ended: false,
        }
    }

    /// The next record; its time may still be lower than the one before, if
    /// it came later than the window allows.
    #[inline]
    pub fn next(&mut self) -> Result<Option<Record>> {
        if self.window == Nanos::ZERO {
            return self.reader.next();
        }
        loop {
            if self.ended {
                return Ok(self.waiting.pop(Nanos::MAX));
            }
            // What lies more than the window back has no one left to wait for.
            let settled = (self.latest.0.checked_sub(self.window.0))
                .and_then(|until| until.checked_sub(1))
                .and_then(|until| self.waiting.pop(Nanos(until)));
            if settled.is_some() {
                return Ok(settled);
            }
            self.pull()?;
        }
    }

    fn pull(&mut self) -> Result<()> {
        let Some(record) = self.reader.next()? else {
            self.ended = true;
            return Ok(());
        };
        let held = self.waiting.push(record.time, record);
        held.map_err(|problem| self.reader.refuse(problem))?;
        self.latest = self.latest.max(record.time);
        Ok(())
    }
}
