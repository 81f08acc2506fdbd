//! Resolves the path of a trace.

use sledsim_base::error::Result;
use sledsim_base::keys::Keys;
use sledsim_traces::STANDARD_INPUT;
use std::path::{Path, PathBuf};

/// The prefix of the names of sample traces.
pub(crate) const SAMPLE: &str = "sample:";

/// The path of the trace that the key `file` of `keys` names: relative to the
/// folder `beside`, standard input (`-`), or among the sample traces in `samples`.
pub(crate) fn trace_path(
    keys: &Keys,
    file: &str,
    beside: Option<&Path>,
    samples: Option<&Path>,
) -> Result<PathBuf> {
    if file == STANDARD_INPUT {
        return Ok(file.into());
    }
    let (Some(sample), Some(folder)) = (file.strip_prefix(SAMPLE), samples) else {
        return Ok(beside.map_or_else(|| file.into(), |folder| folder.join(file)));
    };
    let endings = ["trace.gz", "parquet"];
    let mut paths = endings.map(|ending| folder.join(format!("{sample}.{ending}"))).into_iter();
    paths.find(|path| path.is_file()).ok_or_else(|| {
        let problem = format!("unknown sample trace '{file}'");
        keys.refuse("file", problem)
    })
}
