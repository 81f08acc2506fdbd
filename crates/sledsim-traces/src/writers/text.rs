//! A text file being written, optionally compressed.

use super::Lost;
use flate2::Compression;
use flate2::write::GzEncoder;
use sledsim_base::error::{Error, Result};
use sledsim_base::files::PendingFile;
use std::fmt::Arguments;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

const BUFFER: usize = 1 << 17;

/// A text file that appears when it is complete, with its counts of lost fields.
pub struct Text {
    path: PathBuf,
    sink: Sink,
    pub lost: Lost,
}

enum Sink {
    Plain(BufWriter<PendingFile>),
    Gzip(GzEncoder<BufWriter<PendingFile>>),
}

impl Text {
    /// Starts the file, compressed if its name ends in `.gz`.
    pub fn create(path: &Path) -> Result<Self> {
        let name = path.to_string_lossy().to_ascii_lowercase();
        if let Some(ending) = [".zst", ".xz", ".bz2"].into_iter().find(|end| name.ends_with(end)) {
            let problem =
                format!("{ending} cannot be written: end the name in .gz, or compress later");
            return Err(Error::output(path, problem));
        }
        let file = BufWriter::with_capacity(BUFFER, PendingFile::create(path)?);
        let sink = match name.ends_with(".gz") {
            true => Sink::Gzip(GzEncoder::new(file, Compression::default())),
            false => Sink::Plain(file),
        };
        Ok(Self { path: path.to_owned(), sink, lost: Lost::default() })
    }

    /// Writes formatted text.
    #[inline]
    pub fn put(&mut self, text: Arguments<'_>) -> Result<()> {
        let written = match &mut self.sink {
            Sink::Plain(file) => file.write_fmt(text),
            Sink::Gzip(file) => file.write_fmt(text),
        };
        written.map_err(|error| self.failed(&error))
    }

    /// An error about the next record.
    #[cold]
    pub fn refuse(&self, problem: &str) -> Error {
        let number = self.lost.written + 1;
        Error::output(&self.path, format!("record {number}: {problem}"))
    }

    /// Gives the file its name.
    pub fn finish(self) -> Result<Lost> {
        let failed = |error: io::Error| Error::output(&self.path, error);
        let file = match self.sink {
            Sink::Plain(file) => file,
            Sink::Gzip(file) => file.finish().map_err(failed)?,
        };
        let file = file.into_inner().map_err(|error| failed(error.into_error()))?;
        file.commit()?;
        Ok(self.lost)
    }

    #[cold]
    fn failed(&self, error: &io::Error) -> Error {
        Error::output(&self.path, error)
    }
}
