use super::{Effect, TaskKind};

/// A refresh of the media: every block is to be written again, by the load or
/// by the task, which must have read it in a pass before and holds it until
/// its class comes by again.
pub(super) const REFRESH: TaskKind = TaskKind {
    name: "refresh",
    read: Effect::Hold,
    write: Effect::Done,
    rewrite: Effect::Done,
};
