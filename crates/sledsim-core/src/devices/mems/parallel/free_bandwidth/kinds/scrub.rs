use super::{Effect, TaskKind};

/// A scrub: every block is read and checked once, and again after a tip over it has been
/// replaced, if it then misses a sector. Reads of the load count; writes do not.
pub(super) const SCRUB: TaskKind = TaskKind {
    name: "scrub",
    read: Effect::Done,
    write: Effect::None,
    rewrite: Effect::None,
    seeks_failures: true,
};
