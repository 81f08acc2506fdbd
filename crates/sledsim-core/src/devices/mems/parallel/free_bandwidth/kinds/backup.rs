use super::{Effect, TaskKind};

/// A backup reads every block once, and again if the load writes it after that. It is
/// complete when no copy is out of date; under a continuous load of writes it may never
/// be.
pub(super) const BACKUP: TaskKind = TaskKind {
    name: "backup",
    read: Effect::Done,
    write: Effect::Due,
    rewrite: Effect::None,
    seeks_failures: false,
};
