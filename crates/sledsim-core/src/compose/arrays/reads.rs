//! Which of several copies a read goes to.

use super::View;
use sledsim_base::request::Request;

/// How to choose the copy to read from, among those that hold all blocks of the
/// read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reads {
    /// Round robin.
    RoundRobin,
    /// The one with the fewest requests; ties are broken round robin.
    ShortestQueue,
    /// The one with the fewest requests; ties go to the shortest positioning time,
    /// if the device reports one.
    Nearest,
}

impl Reads {
    /// Chooses among copies given in turn, each as a slot and what to read there.
    pub(super) fn choose<R: std::borrow::Borrow<Request>>(
        self,
        view: &View<'_>,
        mut able: impl Iterator<Item = (usize, R)>,
    ) -> Option<(usize, R)> {
        let members = view.members;
        let load = |slot: usize| members.child(slot).map(|child| members.load(child));
        match self {
            Self::RoundRobin => able.next(),
            // Ties go to the first in turn.
            Self::ShortestQueue => able.min_by_key(|&(slot, _)| load(slot)),
            Self::Nearest => able.min_by_key(|(slot, request)| {
                let mechanism =
                    members.child(*slot).and_then(|child| view.children.mechanism(child));
                let time =
                    mechanism.map(|device| device.positions().estimate(view.at, request.borrow()));
                (load(*slot), time)
            }),
        }
    }
}
