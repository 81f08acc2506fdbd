//! The iSCSI target: exports as logical units for any initiator, by RFC 7143.
//!
//! One target with one portal group. Several sessions, each with one connection and
//! ErrorRecoveryLevel 0; discovery sessions; CHAP; header and data digests; immediate and
//! unsolicited data. What the commands do is in [`crate::scsi`]; how a server accepts
//! clients, and how replies are sent, in [`crate::net`].
//!
//! In reading order:
//!
//! * `name`: addresses and names of targets.
//! * `pdu`: protocol data units.
//! * `keys`: keys with their values, as text.
//! * `parameters`: the negotiation of operational parameters.
//! * `chap`: authentication.
//! * `target`: the state that sessions share.
//! * `login`: the login phase.
//! * `transfer`: commands that wait for data from the initiator.
//! * `reply`: the sending side of a session.
//! * `session`: the login, then the full feature phase.

mod chap;
mod keys;
mod login;
mod name;
mod parameters;
mod pdu;
mod reply;
mod session;
mod target;
mod transfer;

pub use chap::Secrets;
pub use name::{Place, TargetName};
pub use session::serve;
pub use target::Target;

use crate::front_end::Exports;
use crate::net::{self, NetServer};
use sledsim_base::error::Result;
use std::sync::Arc;

/// Settings of an iSCSI target.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Those of any server. The target does not use their TLS.
    pub net: net::Settings,
    /// The secrets of CHAP, if initiators must authenticate. Needed beyond this machine.
    pub secrets: Option<Secrets>,
}

/// Serves exports as the logical units of a target, LUN 0 the first.
pub type IscsiServer = NetServer<Target>;

impl IscsiServer {
    /// Listens at `place` and serves `exports`.
    ///
    /// # Errors
    /// An address that is unavailable, or beyond this machine without secrets.
    pub fn start(place: &Place, exports: Arc<Exports>, settings: &Settings) -> Result<Self> {
        let name = place.target.clone();
        let target = Target::new(exports, &name, settings);
        Self::listen(&place.address, target, |address| name::uri(address, &name))
    }
}
