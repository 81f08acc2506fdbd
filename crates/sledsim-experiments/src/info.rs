//! Statistics of the requests of a load.

use crate::load::Load;
use crate::load_facts::LoadFacts;
use serde::Serialize;
use sledsim_base::error::{Error, Result};
use sledsim_base::progress::Progress;
use sledsim_base::units::BLOCK_BYTES;
use sledsim_core::model::Source;
use sledsim_traces::info::StreamInfo;
use sledsim_traces::{InfoSpec, Record};

/// The number of requests between two calls of `check`.
const CHECK_EVERY: u64 = 4096;

/// Statistics of the requests of a load.
#[derive(Clone, Debug, Serialize)]
pub struct LoadInfo {
    /// The load and its counts.
    pub workload: LoadFacts,
    /// The blocks that it can use.
    pub blocks: u64,
    /// The statistics.
    #[serde(flatten)]
    pub requests: StreamInfo,
}

/// Statistics of the requests of `load` on `blocks` blocks, as
/// [`InfoSpec::read`] returns for a trace; the key `streams` replaces `devices`.
/// A request is sequential if it starts where the request before of its stream
/// ended, or after it by the `interleave_kib` of the load unless `spec` gives
/// another gap; the parts of a mix are streams.
///
/// # Errors
/// An error in the load, a load that is closed, or `check`'s.
pub fn load_info(
    spec: &InfoSpec,
    load: &Load,
    blocks: u64,
    check: &mut dyn FnMut(Progress) -> Result<()>,
) -> Result<LoadInfo> {
    let mut source = load.source(blocks, check)?;
    let mut spec = spec.clone();
    if spec.interleave_blocks.is_none() {
        let kib = load.interleave_kib();
        spec.interleave_blocks = (kib > 0.0).then_some((kib * 1024.0) as u64 / BLOCK_BYTES);
    }
    let requests = spec.describe(|record| take_all(&mut *source, record, check))?;
    Ok(LoadInfo { workload: load.facts(&*source), blocks, requests })
}

/// Passes on all requests of an open load.
fn take_all(
    source: &mut dyn Source,
    take: &mut dyn FnMut(&Record, u32),
    check: &mut dyn FnMut(Progress) -> Result<()>,
) -> Result<()> {
    let requests = source.requests();
    let mut completed = 0;
    while source.next_arrival()?.is_some() {
        let request = source.take();
        let mut record = Record { time: request.arrival, op: request.op, ..Record::default() };
        if request.extents.is_empty() {
            take(&record, request.stream);
        }
        for extent in &request.extents {
            record.offset = extent.lbn * BLOCK_BYTES;
            record.bytes = u64::from(extent.blocks) * BLOCK_BYTES;
            take(&record, request.stream);
        }
        completed += 1;
        if completed % CHECK_EVERY == 0 {
            check(Progress { completed, requests, share: None })?;
        }
    }
    if requests.is_some_and(|requests| requests > completed) || completed == 0 {
        let problem = "is closed, its requests wait for completions: make it open (rate), or \
                       write it as a trace from a simulation (trace generate --device)";
        return Err(Error::Key(format!("load: {problem}")));
    }
    Ok(())
}
