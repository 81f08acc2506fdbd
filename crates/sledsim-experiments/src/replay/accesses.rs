//! The requests of a trace for layouts that count accesses.

use super::TraceSpec;
use super::path::{SAMPLE, trace_path};
use serde::Serialize;
use sledsim_base::error::{Error, Result};
use sledsim_base::keys::Keys;
use sledsim_base::progress::Progress;
use sledsim_base::request::Extent;
use sledsim_core::layouts::{TraceAccesses, TraceOpener};
use sledsim_core::model::Source;
use sledsim_traces::STANDARD_INPUT;
use std::path::{Path, absolute};

/// The number of requests between two calls of `check`.
const CHECK_EVERY: u64 = 1024;

/// The folders of the traces that layouts name.
pub struct TraceFiles<'a> {
    /// The folder that files are relative to.
    pub beside: Option<&'a Path>,
    /// The folder of the sample traces.
    pub samples: Option<&'a Path>,
}

impl TraceOpener for TraceFiles<'_> {
    fn place(&self, file: &str) -> Result<String> {
        if file == STANDARD_INPUT || (file.starts_with(SAMPLE) && self.samples.is_some()) {
            return Ok(file.to_owned());
        }
        let path = (self.beside).map_or_else(|| file.into(), |folder| folder.join(file));
        let path = absolute(&path).map_err(|error| Error::file(&path, error))?;
        Ok(path.to_string_lossy().into_owned())
    }

    fn open(&self, mut keys: Keys) -> Result<Box<dyn TraceAccesses>> {
        let file = keys.text("file")?;
        let path = trace_path(&keys, &file, self.beside, self.samples)?;
        let spec = TraceSpec::read(&path, &mut keys)?;
        keys.finish()?;
        Ok(Box::new(Trace { file, spec }))
    }
}

#[derive(Debug, Serialize)]
struct Trace {
    /// As the table names it.
    file: String,
    #[serde(skip)]
    spec: TraceSpec,
}

impl TraceAccesses for Trace {
    fn each(
        &self,
        blocks: u64,
        check: &mut dyn FnMut(Progress) -> Result<()>,
        visit: &mut dyn FnMut(Extent),
    ) -> Result<()> {
        // Layouts of several devices, and the load, may use the same trace.
        self.spec.keep(check)?;
        let mut source = self.spec.source(blocks, check)?;
        let mut taken = 0_u64;
        while let Some(at) = source.next_arrival()? {
            let request = source.take();
            for extent in &request.extents {
                visit(*extent);
            }
            source.completed(request.id, at);
            taken += 1;
            if taken.is_multiple_of(CHECK_EVERY) {
                check(Progress {
                    completed: taken,
                    requests: source.requests(),
                    share: source.share(),
                })?;
            }
        }
        Ok(())
    }
}
