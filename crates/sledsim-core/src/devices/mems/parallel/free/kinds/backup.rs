use super::{Effect, TaskKind};

/// A backup: every block is to be read once, and again if the load wrote it
/// after that; complete when no copy is out of date. Under a load that writes
/// on and on it may never be.
pub(super) const BACKUP: TaskKind = TaskKind {
    name: "backup",
    read: Effect::Done,
    write: Effect::Due,
    rewrite: Effect::None,
};
