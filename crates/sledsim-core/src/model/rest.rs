//! Rests: a host tells an idle device to go inactive, before its own policy does.

/// The result of a rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// It is inactive from now until its next request, which wakes it.
    Rests,
    /// It has work, and goes on.
    Works,
    /// It has no state to rest in, or goes there by its own policy only.
    Cannot,
}
