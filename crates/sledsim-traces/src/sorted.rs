//! Records put in the order of their times, within a window.

use super::order::{Order, Sorter};
use crate::reader::Reader;
use crate::record::Record;
use sledsim_base::error::Result;
use sledsim_base::units::Nanos;

/// The records of a reader in the order of their times. A record that is
/// later in the file than one whose time is up to `window` higher comes before
/// it; equal times keep the order of the file. Memory grows with the records
/// of a window.
pub(super) struct Sorted {
    pub reader: Box<dyn Reader>,
    window: Nanos,
    waiting: Sorter<Record>,
    /// Of the records as they were read.
    pub order: Order,
    /// Whether a record that comes later than the window allows is an error.
    strict: bool,
    ended: bool,
}

impl Sorted {
    /// With `strict`, a record that comes later than the window allows is an
    /// error.
    pub fn new(reader: Box<dyn Reader>, window: Nanos, strict: bool) -> Self {
        Self {
            reader,
            window,
            waiting: Sorter::new(),
            order: Order::new(Some(window)),
            strict,
            ended: false,
        }
    }

    /// The next record; unless `strict`, its time may still be lower than the
    /// one before, if it came later than the window allows.
    #[inline]
    pub fn next(&mut self) -> Result<Option<Record>> {
        if self.window == Nanos::ZERO {
            return self.read();
        }
        loop {
            if self.ended {
                return Ok(self.waiting.pop(Nanos::MAX));
            }
            // What lies more than the window back has no one left to wait for.
            let settled = (self.order.latest.0.checked_sub(self.window.0))
                .and_then(|until| until.checked_sub(1))
                .and_then(|until| self.waiting.pop(Nanos(until)));
            if settled.is_some() {
                return Ok(settled);
            }
            self.pull()?;
        }
    }

    /// The next record of the file.
    #[inline]
    fn read(&mut self) -> Result<Option<Record>> {
        let Some(record) = self.reader.next()? else {
            return Ok(None);
        };
        if !self.order.admit(record.time, &*self.reader) && self.strict {
            let all = &mut |_: &Record, _: &dyn Reader| true;
            return Err(self.order.too_late(record.time, &mut *self.reader, all));
        }
        Ok(Some(record))
    }

    fn pull(&mut self) -> Result<()> {
        let Some(record) = self.read()? else {
            self.ended = true;
            return Ok(());
        };
        let held = self.waiting.push(record.time, record);
        held.map_err(|problem| self.reader.refuse(problem))
    }
}
