//! Reference files outside the repository, for comparison with results.

use std::path::PathBuf;

/// The path of a reference file; `None`, with a printed line, if the reference
/// folder is absent.
pub fn reference(path: &str) -> Option<PathBuf> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    if !root.is_dir() {
        println!("skipped: no folder of reference files beside the repository (shared/{path})");
        return None;
    }
    Some(root.join(path))
}
