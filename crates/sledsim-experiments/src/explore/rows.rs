//! The rows of a run in the order of service.

use super::Window;
use super::columns::{Columns, short};
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, Int8Array, RecordBatch, UInt32Array};
use sledsim_base::error::{Error, Result};
use sledsim_base::request::{NO_REQUEST, Op};
use sledsim_base::row::{Parts, Path, Place, Row, Status};
use sledsim_base::units::Nanos;
use std::collections::HashMap;

/// A row, and whether its blocks are the extent that its device served.
#[derive(Clone, Copy, Debug)]
pub(super) struct Served {
    pub row: Row,
    pub is_whole: bool,
}

impl Served {
    /// How long the mechanism worked for it.
    pub fn busy(&self) -> Nanos {
        let Parts { seek, rotation, head_switch, transfer, retry, other, .. } = self.row.parts;
        seek + rotation + head_switch + transfer + retry + other
    }
}

/// The columns of one end of a path.
struct Places<'a> {
    cylinder: &'a UInt32Array,
    head: &'a UInt32Array,
    row: &'a UInt32Array,
    direction: &'a Int8Array,
}

impl Places<'_> {
    fn at(&self, row: usize) -> Option<Place> {
        let direction = self.direction.is_valid(row).then(|| self.direction.value(row));
        let head_or_edge = if direction.is_none() { self.head } else { self.row };
        self.cylinder.is_valid(row).then(|| Place {
            cylinder: self.cylinder.value(row),
            head_or_edge: head_or_edge.value(row),
            direction: direction.unwrap_or_default(),
        })
    }
}

/// The rows of a window, sorted by start and id, and the names of their devices. Of the
/// rows inside the device, those that were taken up while the requests of the window were
/// in it.
pub(super) fn read(batches: &[RecordBatch], window: Window) -> Result<(Vec<Served>, Vec<String>)> {
    let (mut all, mut names) = (Vec::new(), Vec::new());
    for batch in batches {
        add(batch, &mut all, &mut names)?;
    }
    let mut hosts: Vec<_> = (all.iter().map(|served: &Served| served.row))
        .filter(|row| row.parent.is_none() && row.arrival >= window.from)
        .map(|row| (row.arrival, row.id, row.completion))
        .collect();
    hosts.sort_unstable();
    hosts.truncate(window.requests);
    let (first, last) = match (hosts.first(), hosts.last()) {
        (Some(first), Some(last)) => ((first.0, first.1), (last.0, last.1)),
        _ => return Ok((Vec::new(), names)),
    };
    let end = hosts.iter().map(|host| host.2).max().unwrap_or_default();
    all.retain(|Served { row, .. }| match row.parent {
        None => (first..=last).contains(&(row.arrival, row.id)),
        Some(_) => row.start >= first.0 && row.start <= end,
    });
    all.sort_by_key(|served: &Served| (served.row.start, served.row.device, served.row.id));
    Ok((all, names))
}

fn add(batch: &RecordBatch, all: &mut Vec<Served>, names: &mut Vec<String>) -> Result<()> {
    let column = |name: &str| -> Result<&ArrayRef> {
        batch.column_by_name(name).ok_or_else(|| Error::Key(format!("rows: no column {name}")))
    };
    let wide = |name: &str| -> Result<_> { Ok(column(name)?.as_primitive::<Int64Type>()) };
    let whole = |name: &str| -> Result<_> { Ok(column(name)?.as_primitive::<UInt32Type>()) };
    let parts = Parts::COLUMNS.map(wide);
    let parts: Vec<_> = parts.into_iter().collect::<Result<_>>()?;
    let id = column("id")?.as_primitive::<UInt64Type>();
    let parent = column("parent")?.as_primitive::<UInt64Type>();
    let device = column("device")?.as_dictionary::<Int32Type>();
    let (op, status) = (
        column("op")?.as_dictionary::<Int32Type>(),
        column("status")?.as_dictionary::<Int32Type>(),
    );
    let [lbn, arrival, start, completion] =
        [wide("lbn")?, wide("arrival_ns")?, wide("start_ns")?, wide("completion_ns")?];
    let [blocks, depth, passes] = [whole("blocks")?, whole("queue_depth")?, whole("passes")?];
    let places = |end: &str| -> Result<_> {
        Ok(Places {
            cylinder: whole(&format!("{end}_cylinder"))?,
            head: whole(&format!("{end}_head"))?,
            row: whole(&format!("{end}_row"))?,
            direction: column(&format!("{end}_direction"))?.as_primitive(),
        })
    };
    let (from, to) = (places("from")?, places("to")?);
    let cylinders = column("cylinders")?.as_primitive::<UInt64Type>();
    if names.is_empty() {
        names.extend(device.values().as_string::<i32>().iter().flatten().map(str::to_owned));
    }
    let ns = |value: i64| Nanos(value as u64);
    for at in 0..batch.num_rows() {
        let path = from.at(at).zip(to.at(at));
        let mut each = parts.iter().map(|part| ns(part.value(at)));
        let op = Op::ALL[op.keys().value(at) as usize];
        let row = Row {
            id: id.value(at),
            parent: parent.is_valid(at).then(|| parent.value(at)),
            device: device.keys().value(at) as u16,
            op,
            lbn: lbn.value(at) as u64,
            blocks: blocks.value(at),
            arrival: ns(arrival.value(at)),
            start: ns(start.value(at)),
            completion: ns(completion.value(at)),
            queue_depth: depth.value(at),
            parts: Parts::from_each(std::array::from_fn(|_| each.next().unwrap_or_default())),
            passes: passes.value(at),
            status: Status::ALL[status.keys().value(at) as usize],
            path: path.map(|(from, to)| Path { from, to, cylinders: cylinders.value(at) }),
            ..Row::default()
        };
        all.push(Served { row, is_whole: true });
    }
    Ok(())
}

/// The rows as columns.
pub(super) fn columns(served: &[Served]) -> Columns {
    let mut columns = Columns::default();
    let rows = || served.iter().map(|served| &served.row);
    // The request of a row's parent is the one of that id in the nearest device outside.
    let mut known = HashMap::new();
    for (index, row) in rows().enumerate() {
        known.entry((row.device, row.id)).or_insert(index);
    }
    let parent = |row: &Row| match row.parent {
        None => -1,
        Some(NO_REQUEST) => -2,
        Some(id) => (0..row.device)
            .rev()
            .find_map(|device| known.get(&(device, id)))
            .and_then(|index| i32::try_from(*index).ok())
            .unwrap_or(-2),
    };
    columns.add("device", rows().map(|row| row.device as u8));
    columns.add("parent", rows().map(parent));
    columns.add("id", rows().map(|row| row.id as f64));
    columns.add("op", rows().map(|row| row.op as u8));
    columns.add("failed", rows().map(|row| u8::from(row.status == Status::Error)));
    columns.add("lbn", rows().map(|row| row.lbn as f64));
    columns.add("blocks", rows().map(|row| row.blocks));
    columns.add("arrival_ns", rows().map(|row| row.arrival.0 as f64));
    columns.add("start_ns", rows().map(|row| row.start.0 as f64));
    columns.add("completion_ns", rows().map(|row| row.completion.0 as f64));
    columns.add("depth", rows().map(|row| row.queue_depth));
    columns.add("passes", rows().map(|row| row.passes));
    for (part, name) in Parts::COLUMNS.into_iter().enumerate() {
        let each = || rows().map(|row| row.parts.each()[part].0);
        if each().any(|ns| ns > 0) {
            columns.add(name, each().map(short));
        }
    }
    let cylinder = |of: fn(&Path) -> u64| {
        let of = move |row: &Row| row.path.as_ref().map_or(-1, |path| of(path) as i32);
        rows().map(of)
    };
    columns.add("from_cylinder", cylinder(|path| u64::from(path.from.cylinder)));
    columns.add("to_cylinder", cylinder(|path| u64::from(path.to.cylinder)));
    columns.add("cylinders", cylinder(|path| path.cylinders.min(i32::MAX as u64)));
    columns
}
