use super::{Effect, TaskKind};

/// A scrub: every block is read and checked once. Reads of the load count; writes do
/// not.
pub(super) const SCRUB: TaskKind = TaskKind {
    name: "scrub",
    read: Effect::Done,
    write: Effect::None,
    rewrite: Effect::None,
};
