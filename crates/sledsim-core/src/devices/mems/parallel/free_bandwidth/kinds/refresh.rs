use super::{Effect, TaskKind};

/// A refresh of the media: every block is written again, by the load or by the task.
/// The task reads the block in an earlier pass and holds it until the sled passes its
/// class again.
pub(super) const REFRESH: TaskKind = TaskKind {
    name: "refresh",
    read: Effect::Hold,
    write: Effect::Done,
    rewrite: Effect::Done,
    seeks_failures: false,
};
