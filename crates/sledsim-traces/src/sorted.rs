//! Records sorted by time within a window.

use super::order::Order;
use super::sorter::Sorter;
use crate::reader::Reader;
use crate::record::Record;
use sledsim_base::error::Result;
use sledsim_base::units::Nanos;

/// The records of a reader, sorted by time within a window: a record may come
/// later in the file than others whose times are up to `window` higher. Equal
/// times keep the order of the file. Memory grows with the records of a window.
pub(super) struct SortedRecords {
    pub reader: Box<dyn Reader>,
    /// The order of the times in the file.
    pub order: Order,
    /// Whether a record later than the window allows is an error.
    strict: bool,
    /// None if the window is empty.
    sorter: Option<Sorter<Record>>,
}

impl SortedRecords {
    /// With `strict`, a record later than the window allows is an error.
    pub fn new(reader: Box<dyn Reader>, window: Nanos, strict: bool) -> Self {
        // Longer by 1 ns: a record that is later than the window precedes one at its end.
        let beyond = Nanos(window.0.saturating_add(1));
        let sorter = (window > Nanos::ZERO).then(|| Sorter::new(beyond, usize::MAX));
        Self { reader, order: Order::new(Some(window)), strict, sorter }
    }

    /// Moves to the next record; false at the end. Unless `strict`, a record later than
    /// the window allows comes out of order.
    #[inline]
    pub fn next_into(&mut self, record: &mut Record) -> Result<bool> {
        let Self { reader, order, strict, sorter } = self;
        let Some(sorter) = sorter else {
            return read(&mut **reader, order, *strict, record);
        };
        let next = sorter.next(|sorter| {
            if !read(&mut **reader, order, *strict, record)? {
                return Ok(None);
            }
            let held = sorter.push(record.time, *record);
            held.map_err(|problem| reader.refuse(problem))?;
            Ok(Some(record.time))
        })?;
        if let Some(next) = next {
            *record = next;
        }
        Ok(next.is_some())
    }
}

/// Moves to the next record of the file; false at the end.
#[inline]
fn read(
    reader: &mut dyn Reader,
    order: &mut Order,
    strict: bool,
    record: &mut Record,
) -> Result<bool> {
    if !reader.next_into(record)? {
        return Ok(false);
    }
    if !order.admit(record.time, reader) && strict {
        return Err(order.too_late(record.time, reader, &mut |_, _| true));
    }
    Ok(true)
}
