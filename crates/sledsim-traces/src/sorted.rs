//! Records sorted by time within a window.

use super::order::{Order, Sorter};
use crate::reader::Reader;
use crate::record::Record;
use sledsim_base::error::Result;
use sledsim_base::units::Nanos;

/// The records of a reader, sorted by time within a window: a record may come
/// later in the file than others whose times are up to `window` higher. Equal
/// times keep the order of the file. Memory grows with the records of a window.
pub(super) struct SortedRecords {
    pub reader: Box<dyn Reader>,
    window: Nanos,
    waiting: Sorter<Record>,
    /// The order of the times in the file.
    pub order: Order,
    /// Whether a record later than the window allows is an error.
    strict: bool,
    ended: bool,
}

impl SortedRecords {
    /// With `strict`, a record later than the window allows is an error.
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

    /// The next record; unless `strict`, a record later than the window allows
    /// comes out of order.
    #[inline]
    pub fn next(&mut self) -> Result<Option<Record>> {
        if self.window == Nanos::ZERO {
            return self.read();
        }
        loop {
            if self.ended {
                return Ok(self.waiting.pop(Nanos::MAX));
            }
            // No record still to come may precede one more than the window back.
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
