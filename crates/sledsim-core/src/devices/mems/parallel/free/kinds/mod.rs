//! The kinds of background tasks.
//!
//! Contract: a kind says what becomes of a block for it when its bits have come
//! by under the tips, whoever asked for them.

mod backup;
mod refresh;
mod scan;
mod scrub;

use sledsim_base::registry::{Named, Registry};

/// What happened to a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touch {
    /// It was read, for the load or for any task.
    Read,
    /// The load wrote it.
    Write,
    /// A task wrote again what it had read.
    Rewrite,
}

/// What that means to a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing.
    None,
    /// It is done with the block.
    Done,
    /// The block is to be done again if it was.
    Due,
    /// Its data are at hand, and have to be written again.
    Hold,
}

/// A kind of task.
#[derive(Debug)]
pub struct TaskKind {
    /// Its name in specs and results.
    pub name: &'static str,
    read: Effect,
    write: Effect,
    rewrite: Effect,
}

impl Named for TaskKind {
    fn name(&self) -> &'static str {
        self.name
    }
}

impl TaskKind {
    /// What a touch means to it.
    #[must_use]
    pub fn after(&self, touch: Touch) -> Effect {
        match touch {
            Touch::Read => self.read,
            Touch::Write => self.write,
            Touch::Rewrite => self.rewrite,
        }
    }

    /// Whether it writes every block again.
    #[must_use]
    pub fn rewrites(&self) -> bool {
        self.read == Effect::Hold
    }
}

/// The kinds, in the order in which they are listed.
pub const KINDS: Registry<TaskKind> =
    Registry::new(&[scan::SCAN, scrub::SCRUB, backup::BACKUP, refresh::REFRESH]);
