use super::{Effect, TaskKind};

/// A full scan: every block is accessed once, by the load or by the task
/// (CMU-CS-03-125, section 5.1).
pub(super) const SCAN: TaskKind = TaskKind {
    name: "scan",
    read: Effect::Done,
    write: Effect::Done,
    rewrite: Effect::Done,
    seeks_failures: false,
};
