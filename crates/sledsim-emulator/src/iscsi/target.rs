//! The state that the sessions of a target share.

use super::login::{Agreed, Login};
use super::session::Session;
use super::{Secrets, Settings, TargetName};
use crate::front_end::Exports;
use crate::listen::{Admission, ClientErrorStats};
use crate::scsi::Device;
use crate::stream::{self, ClientErrorKind, Connection, End, Input, Protocol, Shared};
use rustix::fd::OwnedFd;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Instant;

/// The name of an initiator with its part of a session's identity.
type Initiator = (String, [u8; 6]);

/// The protocol of a target, and the state that its sessions share.
pub struct Target {
    pub(super) exports: Arc<Exports>,
    pub(super) device: Arc<Device>,
    pub(super) settings: stream::Settings,
    pub(super) secrets: Option<Secrets>,
    pub(super) shared: Shared,
    sessions: Mutex<BTreeMap<Initiator, Weak<Connection>>>,
    handles: AtomicU16,
}

impl Target {
    pub(super) fn new(exports: Arc<Exports>, name: &TargetName, settings: &Settings) -> Self {
        let admission = Admission {
            tls: None,
            allow_unauthenticated: settings.secrets.is_some(),
            remedy: "give the secrets of CHAP (--iscsi-secrets)",
            ..settings.server.admission.clone()
        };
        Self {
            device: Device::new(Arc::clone(&exports), name.as_str()),
            exports,
            settings: settings.server.clone(),
            secrets: settings.secrets.clone(),
            shared: Shared::new(&admission),
            sessions: Mutex::default(),
            handles: AtomicU16::new(0),
        }
    }

    pub(super) fn name(&self) -> &str {
        self.device.name()
    }

    /// A handle for a session, not 0.
    fn new_handle(&self) -> u16 {
        loop {
            let handle = self.handles.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
            if handle != 0 {
                return handle;
            }
        }
    }

    /// Notes the session of a connection; ends an older one of the same identity, as
    /// section 6.3.5 demands.
    fn establish(&self, agreed: &Agreed, connection: &Arc<Connection>) {
        let initiator = (agreed.initiator.clone(), agreed.isid);
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.retain(|_, session| session.strong_count() > 0);
        let older = sessions.insert(initiator, Arc::downgrade(connection));
        drop(sessions);
        if let Some(older) = older.and_then(|older| older.upgrade()) {
            older.hang_up();
        }
    }
}

impl Protocol for Target {
    const KIND: &'static str = "iscsi";

    fn shared(&self) -> &Shared {
        &self.shared
    }

    fn serve(&self, connection: &Arc<Connection>) {
        let client = connection.client;
        let note = |end: &End| {
            if let End::Bad(kind, why) = end {
                self.shared.note(*kind, client, why);
            }
        };
        let deadline = Instant::now() + connection.patience;
        let mut input = Input::new(connection.socket(), Some(deadline));
        match Login::new(&mut input, self, self.new_handle()).run() {
            Ok(agreed) => {
                if !agreed.is_discovery {
                    self.establish(&agreed, connection);
                }
                self.shared.places.settle(client);
                input.start_transmission(self.settings.busy_poll, connection.patience);
                Session::new(self, connection, &agreed).run(&mut input, &note);
            }
            Err(End::Eof) => {
                let why = "closed before it had logged in".to_owned();
                note(&End::Bad(ClientErrorKind::Handshake, why));
            }
            Err(end) => note(&end),
        }
        let _ = connection.end();
    }
}

/// Serves one initiator at the other end of `socket`, a connected stream socket, until it
/// ends; returns its errors.
pub fn serve(socket: OwnedFd, exports: Arc<Exports>, settings: &Settings) -> ClientErrorStats {
    let target = Target::new(exports, &TargetName::default(), settings);
    target.serve(&Arc::new(target.shared.connection(0, socket)));
    target.shared.client_errors
}
