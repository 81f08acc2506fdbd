//! The files of the parts, and their list.

use super::By;
use super::list::{ListedPart, ListedWindow, PartBy, PartList, PartName, WarmUpKeys};
use super::pass::{Part, Split};
use crate::formats;
use crate::replay::feed::CHECK_EVERY;
use crate::stats::seconds;
use crate::tasks::{Task, run_tasks};
use serde_json::{Map, Value};
use sledsim_base::error::{Error, Result};
use sledsim_base::progress::Progress;
use sledsim_base::units::Nanos;
use sledsim_traces::Record;
use std::path::Path;

/// Writes a file for each part into `folder` on up to `threads` threads; returns the
/// list of the parts.
pub(super) fn write(
    split: Split,
    by: By,
    keys: Map<String, Value>,
    folder: &Path,
    threads: usize,
    check: &mut dyn FnMut(Progress) -> Result<()>,
) -> Result<PartList> {
    let all = split.requests;
    let check = &mut || check(Progress { completed: all, requests: Some(all), share: None });
    let write = |task: &Task<'_>| write_part(&split, task, &folder.join(name(task.index)));
    run_tasks(split.parts.len(), threads, &write, check)?;
    let listed = |(number, part): (usize, Part)| {
        let window = window_of(&part, by);
        ListedPart { file: name(number), name: part.name, requests: part.requests, window }
    };
    let parts = split.parts.into_iter().enumerate().map(listed).collect();
    let (by, window, warm_up) = match by {
        By::Volume => (PartBy::Volume, None, None),
        By::Window { length, warm_up } => (PartBy::Window, Some(length), Some(warm_up)),
    };
    Ok(PartList {
        sledsim: env!("CARGO_PKG_VERSION").to_owned(),
        by,
        window_s: window.map(seconds),
        warm_up_s: warm_up.map(seconds),
        requests: split.requests,
        trace: split.trace,
        keys,
        parts,
    })
}

/// The name of the file of a part.
fn name(number: usize) -> String {
    format!("{number:07}.parquet")
}

/// The bounds of a window and the keys of its warm-up.
fn window_of(part: &Part, by: By) -> Option<ListedWindow> {
    let (By::Window { length, .. }, PartName::Number(number)) = (by, &part.name) else {
        return None;
    };
    let start = Nanos(number * length.0);
    // Counting begins with the first request of the window. Any time above zero says
    // that it does not begin with the simulation, also where no request comes before.
    let keys = match start {
        Nanos::ZERO => WarmUpKeys::default(),
        _ => WarmUpKeys { warm_up_requests: Some(part.warm_up), warm_up_s: Some(1e-9) },
    };
    Some(ListedWindow {
        start_ns: start,
        end_ns: Nanos(start.0.saturating_add(length.0)),
        warm_up_requests: part.warm_up,
        keys,
    })
}

/// Writes the file of a part, with times from the subtracted one on.
fn write_part(split: &Split, task: &Task<'_>, path: &Path) -> Result<()> {
    let part = &split.parts[task.index];
    let mut writer = formats::part_writer(path)?;
    if let Some((device, name)) = &part.device {
        writer.name_device(*device, name)?;
    }
    let mut written = 0;
    let mut each = |record: &Record| {
        writer.write(&Record { time: record.time.since(split.subtracted), ..*record })?;
        written += 1;
        match written % CHECK_EVERY {
            0 => task.check(),
            _ => Ok(()),
        }
    };
    split.spilled.read(part.index, &mut each)?;
    writer.finish()?;
    if written == part.requests + part.warm_up {
        return Ok(());
    }
    let expected = part.requests + part.warm_up;
    let problem = format!("has {written} requests of {expected}: please report this");
    Err(Error::file(path, problem))
}
