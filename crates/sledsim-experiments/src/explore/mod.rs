//! A run as a page shows it: where every sled and arm was, from rows alone.
//!
//! Rows tell where a mechanism was and where it went. From these the calculators of its
//! device compute the way between, outside the simulation. A way whose times are not those
//! of the row, as after errors, for a batch or under a layout, is marked as not exact.
//!
//! In reading order:
//!
//! * [`columns`]: columns of numbers as bytes.
//! * `rows`: the rows in the order of service.
//! * `sled`: segments of motion of a sled.
//! * `disk`: passes of a disk.
//! * `choices`: who waited when a mechanism took up a request.

mod choices;
pub mod columns;
mod disk;
mod rows;
mod sled;

use arrow_array::RecordBatch;
use choices::Choices;
use columns::Columns;
use rows::Served;
use sledsim_base::error::Result;
use sledsim_base::request::Extent;
use sledsim_base::units::Nanos;
use sledsim_core::catalog::Device;

/// A device of the tree, as the page draws it.
#[derive(Debug, Default)]
pub struct Explored {
    /// Its name in the rows.
    pub name: String,
    /// `sled`, `disk` or `other`.
    pub role: &'static str,
    /// Index of the device that it is in.
    pub parent: Option<usize>,
    /// Logical blocks.
    pub blocks: u64,
    /// Facts by name: numbers, or lists of numbers.
    pub facts: Vec<(&'static str, Vec<f64>)>,
    /// One value an access, a segment, a pass, a choice or a candidate.
    pub columns: Columns,
}

/// The requests of the host that a page shows.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Those that arrive from then on,
    pub from: Nanos,
    /// and at most so many.
    pub requests: usize,
}

/// The calculator of a mechanism, following its accesses.
trait Follower {
    /// Adds the access of a row, in the order of time.
    fn add(&mut self, row: usize, served: &Served);

    /// When the command of a request that arrived at `arrival` had been processed.
    fn ready(&self, arrival: Nanos) -> Nanos;

    /// The positioning time before a request if it had been taken up instead of the
    /// access added last; `None` for blocks outside the device.
    fn estimate(&self, served: &Served) -> Option<Nanos>;

    /// Its facts and columns.
    fn finish(self: Box<Self>) -> (Vec<(&'static str, Vec<f64>)>, Columns);
}

/// The columns of the rows, in the order of service, and the devices.
///
/// `window` takes some of the rows. Choices around `at` have estimates of all that wait, as
/// many as fit.
///
/// # Errors
/// Rows that lack a column.
pub fn explore(
    batches: &[RecordBatch],
    device: &Device,
    window: Window,
    at: Nanos,
) -> Result<(Columns, Vec<Explored>)> {
    let (served, names) = rows::read(batches, window)?;
    let mut devices = Vec::new();
    // The scheduler may put a queue of the host before the device.
    let name = format!("{}.host", device.name());
    if names.first() == Some(&name) {
        devices.push((Explored { name, role: "other", ..Explored::default() }, None));
    }
    add_devices(device, devices.len().checked_sub(1), &mut devices);
    let has_layout = device.layout().is_some();
    let mut explored = Vec::new();
    for (number, (mut about, follower)) in devices.into_iter().enumerate() {
        if let Some(name) = names.get(number) {
            about.name.clone_from(name);
        }
        if let Some(mut follower) = follower {
            let is_own =
                |one: &Served| usize::from(one.row.device) == number && one.row.path.is_some();
            let own: Vec<_> = (0..served.len()).filter(|&row| is_own(&served[row])).collect();
            let mut choices = Choices::new(&served, &own, &*follower, at);
            for row in own {
                // Of a layout the rows have the blocks above it.
                let one = &served[row];
                let below = Served { is_whole: one.is_whole && !has_layout, ..*one };
                follower.add(row, &below);
                choices.add(row, &served, &*follower);
            }
            (about.facts, about.columns) = follower.finish();
            choices.finish(&mut about.columns);
        }
        explored.push(about);
    }
    Ok((rows::columns(&served), explored))
}

type Found = (Explored, Option<Box<dyn Follower>>);

/// Lists the devices of a tree in the order of their numbers in rows.
fn add_devices(device: &Device, parent: Option<usize>, devices: &mut Vec<Found>) {
    let follower: Option<Box<dyn Follower>> = match (device.mems(), device.disk()) {
        (Some(mems), _) => Some(Box::new(sled::SledPath::new(mems))),
        (_, Some(disk)) => Some(Box::new(disk::DiskPath::new(disk))),
        _ => None,
    };
    let role = match (device.mems(), device.disk()) {
        (Some(_), _) => "sled",
        (_, Some(_)) => "disk",
        _ => "other",
    };
    let (name, blocks) = (device.name().to_owned(), device.blocks());
    let at = devices.len();
    devices.push((Explored { name, role, parent, blocks, ..Explored::default() }, follower));
    for child in device.children() {
        add_devices(child, Some(at), devices);
    }
}

impl Served {
    /// Its blocks.
    fn extent(&self) -> Extent {
        Extent { lbn: self.row.lbn, blocks: self.row.blocks }
    }
}
