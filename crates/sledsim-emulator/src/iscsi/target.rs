//! The state that the sessions of a target share.

use super::{Secrets, Settings, TargetName};
use crate::front_end::Exports;
use crate::net::{self, Admission, ClientErrorKind, Connection, Shared};
use crate::scsi::Device;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// The name of an initiator with its part of a session's identity.
pub(super) type Initiator = (String, [u8; 6]);

/// The protocol of a target, and the state that its sessions share.
pub struct Target {
    pub(super) exports: Arc<Exports>,
    pub(super) device: Arc<Device>,
    pub(super) settings: net::Settings,
    pub(super) secrets: Option<Secrets>,
    pub(super) shared: Shared<Connection>,
    sessions: Mutex<BTreeMap<Initiator, Weak<Connection>>>,
    handles: AtomicU16,
}

impl Target {
    pub(super) fn new(exports: Arc<Exports>, name: &TargetName, settings: &Settings) -> Self {
        let admission = Admission {
            tls: None,
            allow_unauthenticated: settings.secrets.is_some(),
            remedy: "give the secrets of CHAP (--iscsi-secrets)",
            ..settings.net.admission.clone()
        };
        Self {
            device: Device::new(Arc::clone(&exports), name.as_str()),
            exports,
            settings: settings.net.clone(),
            secrets: settings.secrets.clone(),
            shared: Shared::new(&admission, &ClientErrorKind::ALL),
            sessions: Mutex::default(),
            handles: AtomicU16::new(0),
        }
    }

    pub(super) fn name(&self) -> &str {
        self.device.name()
    }

    /// A handle for a session, not 0.
    pub(super) fn new_handle(&self) -> u16 {
        loop {
            let handle = self.handles.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
            if handle != 0 {
                return handle;
            }
        }
    }

    /// Notes the session of a connection; ends an older one of the same identity, as
    /// section 6.3.5 demands.
    pub(super) fn establish(&self, initiator: Initiator, connection: &Arc<Connection>) {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.retain(|_, session| session.strong_count() > 0);
        let older = sessions.insert(initiator, Arc::downgrade(connection));
        drop(sessions);
        if let Some(older) = older.and_then(|older| older.upgrade()) {
            older.socket.close();
        }
    }
}
