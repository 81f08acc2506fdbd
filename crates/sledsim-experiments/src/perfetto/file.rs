//! A trace file that another thread writes.

use super::packets::Packets;
use crate::stats::Window;
use sledsim_base::error::{Error, Result};
use sledsim_base::files::PendingFile;
use sledsim_base::row::Row;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

/// Rows passed to the writing thread at a time (1 MB).
const BATCH_ROWS: usize = 4_096;
/// Batches that may wait for the writing thread.
const BATCHES_WAITING: usize = 2;
/// Endings of the name of a trace for Perfetto.
const ENDINGS: [&str; 2] = ["pftrace", "perfetto-trace"];

/// Refuses a file whose name does not end in `.pftrace` or `.perfetto-trace`, also
/// through a link. Other than a regular file may have any name.
///
/// # Errors
/// [`Error::File`] for any other ending, or a folder.
pub fn check_ending(path: &Path) -> Result<()> {
    let fits = |path: &Path| {
        let ending = path.extension().and_then(|ending| ending.to_str());
        ending.is_some_and(|ending| ENDINGS.contains(&&*ending.to_ascii_lowercase()))
    };
    let about = path.metadata().ok();
    if about.as_ref().is_some_and(std::fs::Metadata::is_dir) {
        return Err(Error::output(path, "is a folder; a file name is needed"));
    }
    let is_special = about.is_some_and(|about| !about.is_file());
    if fits(path) || is_special || path.canonicalize().is_ok_and(|behind| fits(&behind)) {
        return Ok(());
    }
    let problem = "must end in .pftrace or .perfetto-trace";
    Err(Error::output(path, problem))
}

/// Begins a trace that will be at `path`.
pub(super) fn begin(path: &Path) -> Result<Packets<PendingFile>> {
    check_ending(path)?;
    let file = PendingFile::create(path)?;
    let is_special = path.metadata().is_ok_and(|about| !about.is_file());
    let folder = match path.parent() {
        _ if is_special => std::env::temp_dir(),
        Some(parent) if parent != Path::new("") => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    Packets::new(file, &folder).map_err(|error| Error::output(path, error))
}

/// What is passed to the writing thread.
enum Message {
    Rows(Vec<Row>),
    /// The end of the file, with the windows of the power.
    End(Vec<Window>),
}

/// Writes requests to a trace file in constant memory, but for 16 bytes for each
/// that is under way at once.
///
/// Another thread encodes and writes. The file appears under its name when
/// [`PerfettoFile::finish`] returns, not before and not after an error. The same
/// rows give the same bytes.
pub struct PerfettoFile {
    path: PathBuf,
    rows: Vec<Row>,
    /// Disconnecting before the end abandons the file.
    messages: Option<SyncSender<Message>>,
    writer: Option<JoinHandle<io::Result<PendingFile>>>,
}

impl PerfettoFile {
    /// Starts the file; `device_names[row.device]` is the name of a row's device.
    ///
    /// # Errors
    /// [`Error::File`] for another ending, or if a file of that name could not be
    /// written.
    pub fn create(path: &Path, device_names: &[impl AsRef<str>]) -> Result<Self> {
        let mut packets = begin(path)?;
        for name in device_names {
            packets.add_device(name.as_ref());
        }
        let (messages, received) = sync_channel(BATCHES_WAITING);
        let writer = thread::Builder::new()
            .name("sledsim-perfetto".into())
            .spawn(move || write(packets, &received))
            .map_err(|e| Error::output(path, format!("cannot start a thread to write it: {e}")))?;
        Ok(Self {
            path: path.to_owned(),
            rows: Vec::with_capacity(BATCH_ROWS),
            messages: Some(messages),
            writer: Some(writer),
        })
    }

    /// Adds a row; waits if the writing thread is too far behind.
    ///
    /// # Errors
    /// [`Error::File`] with what went wrong in the writing thread since.
    pub fn push(&mut self, row: &Row) -> Result<()> {
        self.rows.push(*row);
        if self.rows.len() < BATCH_ROWS {
            return Ok(());
        }
        let rows = std::mem::replace(&mut self.rows, Vec::with_capacity(BATCH_ROWS));
        self.send(Message::Rows(rows))
    }

    /// Completes the file, with the power of these windows.
    ///
    /// # Errors
    /// [`Error::File`] with what went wrong; there is no file then.
    pub fn finish(mut self, windows: &[Window]) -> Result<()> {
        let rows = std::mem::take(&mut self.rows);
        self.send(Message::Rows(rows))?;
        self.send(Message::End(windows.to_vec()))?;
        self.join()?.commit()
    }

    fn send(&mut self, message: Message) -> Result<()> {
        match &self.messages {
            Some(messages) if messages.send(message).is_ok() => Ok(()),
            _ => self.join().map(drop), // disconnected: the thread has failed
        }
    }

    /// Disconnects, and waits for the result of the writing thread.
    fn join(&mut self) -> Result<PendingFile> {
        self.messages = None;
        match self.writer.take().map(JoinHandle::join) {
            Some(Ok(written)) => written.map_err(|error| Error::output(&self.path, error)),
            Some(Err(_)) => Err(Error::output(&self.path, "the thread writing it panicked")),
            None => Err(Error::output(&self.path, "writing it failed before")),
        }
    }
}

impl Drop for PerfettoFile {
    fn drop(&mut self) {
        // Wait for the thread, which deletes the temporary file.
        if self.writer.is_some() {
            let _ = self.join();
        }
    }
}

/// The writing thread.
fn write(
    mut packets: Packets<PendingFile>,
    messages: &Receiver<Message>,
) -> io::Result<PendingFile> {
    loop {
        match messages.recv() {
            Ok(Message::Rows(rows)) => rows.iter().try_for_each(|row| packets.push(row, None))?,
            Ok(Message::End(windows)) => {
                packets.power((windows.iter()).filter_map(|w| Some((w.start, w.power_w()?))))?;
                return packets.finish();
            }
            Err(_) => return Err(io::Error::other("given up")),
        }
    }
}
