use super::{Effect, TaskKind};

/// A scrub: every block is to be read and checked once. What the load reads is
/// checked by the way; a write checks nothing.
pub(super) const SCRUB: TaskKind = TaskKind {
    name: "scrub",
    read: Effect::Done,
    write: Effect::None,
    rewrite: Effect::None,
};
