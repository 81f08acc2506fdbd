//! The kinds of background tasks.
//!
//! * `scan`: accesses every block once.
//! * `scrub`: reads every block once, again if it misses sectors of a replaced tip.
//! * `backup`: reads every block, again after each write.
//! * `refresh`: writes every block again.
//!
//! Contract: a kind defines the effect on a block of each access to it, by the
//! load or by any task.

mod backup;
mod refresh;
mod scan;
mod scrub;

use sledsim_base::registry::{Named, Registry};

/// An access to a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touch {
    /// A read, for the load or for any task.
    Read,
    /// A write of the load.
    Write,
    /// A task writing back the data it read.
    Rewrite,
}

/// The effect of an access on a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing.
    None,
    /// The task is done with the block.
    Done,
    /// The block is due again if it was done.
    Due,
    /// The task holds the data and has to write them again.
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
    /// Whether blocks that miss tip sectors anew are due again.
    seeks_failures: bool,
}

impl Named for TaskKind {
    fn name(&self) -> &'static str {
        self.name
    }
}

impl TaskKind {
    /// The effect of an access.
    pub fn after(&self, touch: Touch) -> Effect {
        match touch {
            Touch::Read => self.read,
            Touch::Write => self.write,
            Touch::Rewrite => self.rewrite,
        }
    }

    /// Whether blocks that miss tip sectors anew are due again.
    pub fn seeks_failures(&self) -> bool {
        self.seeks_failures
    }

    /// Whether the task writes every block again.
    pub fn rewrites(&self) -> bool {
        self.read == Effect::Hold
    }
}

/// The kinds, in the order of listings.
pub const KINDS: Registry<TaskKind> =
    Registry::new(&[scan::SCAN, scrub::SCRUB, backup::BACKUP, refresh::REFRESH]);
