//! The files of the parts, and their list.

use super::By;
use super::list::{ListedPart, ListedWindow, PartBy, PartList, PartName, WarmUpKeys};
use super::pass::{Part, Split};
use crate::formats;
use crate::replay::feed::CHECK_EVERY;
use crate::stats::seconds;
use serde_json::{Map, Value};
use sledsim_base::error::{Error, Result};
use sledsim_base::progress::Progress;
use sledsim_base::units::Nanos;
use sledsim_traces::Record;
use std::path::Path;

/// Writes a file for each part into `folder`; returns the list of the parts.
pub(super) fn write(
    mut split: Split,
    by: By,
    keys: Map<String, Value>,
    folder: &Path,
    check: &mut dyn FnMut(Progress) -> Result<()>,
) -> Result<PartList> {
    let mut parts = Vec::with_capacity(split.parts.len());
    for (number, part) in std::mem::take(&mut split.parts).into_iter().enumerate() {
        let file = format!("{number:07}.parquet");
        write_part(&mut split, &part, &folder.join(&file), check)?;
        let window = window_of(&part, by);
        parts.push(ListedPart { file, name: part.name, requests: part.requests, window });
    }
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
fn write_part(
    split: &mut Split,
    part: &Part,
    path: &Path,
    check: &mut dyn FnMut(Progress) -> Result<()>,
) -> Result<()> {
    let mut writer = formats::part_writer(path)?;
    if let Some((device, name)) = &part.device {
        writer.name_device(*device, name)?;
    }
    let (mut written, subtracted, all) = (0, split.subtracted, split.requests);
    let mut each = |record: &Record| {
        writer.write(&Record { time: record.time.since(subtracted), ..*record })?;
        written += 1;
        if written % CHECK_EVERY == 0 {
            check(Progress { completed: all, requests: Some(all), share: None })?;
        }
        Ok(())
    };
    split.spill.drain(part.index, &mut each)?;
    writer.finish()?;
    if written == part.requests + part.warm_up {
        return Ok(());
    }
    let expected = part.requests + part.warm_up;
    let problem = format!("has {written} requests of {expected}: please report this");
    Err(Error::file(path, problem))
}
