//! Files that the Python package writes for traces in memory.

use std::path::Path;

/// The beginning of the name of their folder.
pub const FOLDER: &str = "sledsim-frames-";

/// Whether a file is one of them: the user knows neither its name nor its format.
#[must_use]
pub fn is_of_frame(path: &Path) -> bool {
    let folder = path.parent().and_then(Path::file_name);
    folder.is_some_and(|folder| folder.to_string_lossy().starts_with(FOLDER))
}
