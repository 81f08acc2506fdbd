//! A thread that takes the records of many parts while the trace is read.

use super::spill::{Spill, Spilled};
use sledsim_base::error::{Error, Result};
use sledsim_traces::Record;
use std::mem::replace;
use std::panic::resume_unwind;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{Scope, ScopedJoinHandle};

/// The records sent at a time.
const BATCH_RECORDS: usize = 1024;
/// The most batches that wait for the thread.
const MOST_WAITING: usize = 8;

/// Records with the index of their part.
type Batch = Vec<(usize, Record)>;

/// Adds records to a [`Spill`] on a thread of its own.
pub struct Spilling<'scope> {
    parts: usize,
    batch: Batch,
    batches: SyncSender<Batch>,
    /// Ends with the records, or with the error of the file.
    thread: Option<ScopedJoinHandle<'scope, Result<Spilled>>>,
}

impl<'scope> Spilling<'scope> {
    /// Starts the thread; `spill` is empty.
    pub fn start<'env>(mut spill: Spill, scope: &'scope Scope<'scope, 'env>) -> Self {
        let (batches, received) = sync_channel::<Batch>(MOST_WAITING);
        let thread = scope.spawn(move || {
            for (part, record) in received.into_iter().flatten() {
                spill.push(part, &record)?;
            }
            spill.complete()
        });
        let batch = Batch::with_capacity(BATCH_RECORDS);
        Self { parts: 0, batch, batches, thread: Some(thread) }
    }

    /// Adds a part and returns its index.
    pub fn add_part(&mut self) -> usize {
        self.parts += 1;
        self.parts - 1
    }

    /// Adds a record to a part.
    pub fn push(&mut self, part: usize, record: &Record) -> Result<()> {
        self.batch.push((part, *record));
        match self.batch.len() {
            BATCH_RECORDS => self.send(),
            _ => Ok(()),
        }
    }

    fn send(&mut self) -> Result<()> {
        let batch = replace(&mut self.batch, Batch::with_capacity(BATCH_RECORDS));
        match self.batches.send(batch) {
            Ok(()) => Ok(()),
            Err(_) => Err(join(&mut self.thread).err().unwrap_or(Error::Interrupted)),
        }
    }

    /// The records, of which no more are added.
    pub fn complete(mut self) -> Result<Spilled> {
        self.send()?;
        drop(self.batches);
        join(&mut self.thread)
    }
}

/// Waits for the end of the thread.
fn join(thread: &mut Option<ScopedJoinHandle<'_, Result<Spilled>>>) -> Result<Spilled> {
    let thread = thread.take().ok_or(Error::Interrupted)?;
    thread.join().unwrap_or_else(|panic| resume_unwind(panic))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    fn spill() -> (tempfile::TempDir, Spill) {
        let folder = tempfile::tempdir().unwrap();
        let spill = Spill::new(folder.path()).unwrap();
        (folder, spill)
    }

    /// Full batches, the rest, and an even number of batches.
    #[test]
    fn no_record_is_lost_between_the_threads() {
        for count in [0, 1, 1023, 1024, 1025, 2 * 1024, 50_000] {
            let (_folder, spill) = spill();
            let spilled = thread::scope(|scope| {
                let mut spilling = Spilling::start(spill, scope);
                let parts = [spilling.add_part(), spilling.add_part(), spilling.add_part()];
                for offset in 0..count {
                    let record = Record { offset, ..Record::default() };
                    spilling.push(parts[offset as usize % 3], &record).unwrap();
                }
                spilling.complete().unwrap()
            });
            for part in 0..3 {
                let mut found = Vec::new();
                let mut take = |record: &Record| {
                    found.push(record.offset);
                    Ok(())
                };
                if part < count {
                    spilled.read(part as usize, &mut take).unwrap();
                }
                assert!(found.into_iter().eq((part..count).step_by(3)), "{part} of {count}");
            }
        }
    }

    /// The reader of a trace learns of a full disk long before the end.
    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_disk_ends_the_reading() {
        let (_folder, mut spill) = spill();
        spill.file = std::fs::File::options().write(true).open("/dev/full").unwrap();
        spill.most_held_bytes = 1000;
        thread::scope(|scope| {
            let mut spilling = Spilling::start(spill, scope);
            let part = spilling.add_part();
            let error = (0..100_000).find_map(|_| spilling.push(part, &Record::default()).err());
            let said = error.expect("an error").to_string();
            assert!(said.ends_with("no space is left for the parts of the trace"), "{said}");
        });
    }
}
