use super::{Effect, Kind};

/// A refresh of the media: every block is to be written again, by the load or
/// by the task, which must have read it in a pass before and holds it until
/// its class comes by again.
pub(super) const REFRESH: Kind = Kind {
    name: "refresh",
    read: Effect::Hold,
    write: Effect::Done,
    rewrite: Effect::Done,
};
