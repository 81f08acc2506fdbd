//! The server: accepts clients, and sends them away in the end.

use super::connection::Connection;
use super::listen::{Listening, SocketFile};
use super::session::{self, Shared};
use super::trouble::Kind;
use super::{Address, Settings};
use crate::server::Exports;
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{SocketFlags, accept_with, sockopt};
use serde_json::{Value, json};
use sledsim_core::error::{Error, Result};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The connections there are.
#[derive(Default)]
struct Clients {
    here: Mutex<BTreeMap<u32, Arc<Connection>>>,
    accepted: AtomicU32,
}

impl Clients {
    fn here(&self) -> MutexGuard<'_, BTreeMap<u32, Arc<Connection>>> {
        self.here.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One connection, which is there as long as this.
struct Guest {
    clients: Arc<Clients>,
    connection: Arc<Connection>,
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.clients.here().remove(&self.connection.client);
    }
}

/// Serves exports at one address.
pub struct NbdServer {
    shared: Arc<Shared>,
    clients: Arc<Clients>,
    uri: String,
    accepting: Mutex<Option<Accepting>>,
}

/// What accepts clients, and what it takes to end it.
struct Accepting {
    thread: JoinHandle<Vec<JoinHandle<()>>>,
    bell: Arc<OwnedFd>,
    _file: Option<SocketFile>,
}

impl NbdServer {
    /// Listens at `address` and serves `exports` to those who come.
    ///
    /// # Errors
    /// An address that cannot be had or that `settings` do not protect;
    /// certificates that cannot be used.
    pub fn start(address: &Address, exports: Arc<Exports>, settings: &Settings) -> Result<Self> {
        let shared = Arc::new(Shared::new(exports, settings)?);
        let listening = Listening::at(address, settings)?;
        let refuse = |error: std::io::Error| Error::Key(format!("address '{address}': {error}"));
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
        let bell = Arc::new(bell.map_err(|error| refuse(error.into()))?);
        let clients = Arc::new(Clients::default());
        let host = Host {
            shared: Arc::clone(&shared),
            clients: Arc::clone(&clients),
            sockets: listening.sockets,
            is_tcp: listening.is_tcp,
            bell: Arc::clone(&bell),
        };
        let thread = thread::Builder::new()
            .name("sledsim-nbd-door".into())
            .spawn(move || host.run())
            .map_err(refuse)?;
        Ok(Self {
            shared,
            clients,
            uri: listening.uri,
            accepting: Mutex::new(Some(Accepting {
                thread,
                bell,
                _file: listening.file,
            })),
        })
    }

    /// Where clients find it, as `nbd://HOST:PORT` or the like; the name of an
    /// export can be appended to the path.
    #[must_use]
    pub fn uri(&self) -> String {
        self.uri.clone()
    }

    /// How many clients are connected.
    #[must_use]
    pub fn clients(&self) -> usize {
        self.clients.here().len()
    }

    /// What happened so far: `uri`, `clients` that are connected and that were
    /// `accepted`, and the `troubles` with them.
    #[must_use]
    pub fn facts(&self) -> Value {
        json!({
            "uri": self.uri,
            "clients": self.clients(),
            "accepted": self.clients.accepted.load(Ordering::Relaxed),
            "troubles": self.shared.troubles.facts(),
        })
    }

    /// Accepts no more clients and refuses new requests; waits until those under
    /// way are answered, at most `grace` in all; then ends all connections and
    /// waits until they have ended. A second call does nothing.
    pub fn stop(&self, grace: Duration) {
        let mut accepting = self
            .accepting
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let Some(Accepting { thread, bell, .. }) = accepting.take() else {
            return;
        };
        self.shared.stopping.store(true, Ordering::SeqCst);
        let _ = rustix::io::write(&bell, &1u64.to_ne_bytes());
        let sessions = thread.join().unwrap_or_default();
        let end = Instant::now() + grace;
        let here: Vec<_> = self.clients.here().values().cloned().collect();
        for connection in here {
            let left = end.saturating_duration_since(Instant::now());
            let _ = connection.gate.idle(left);
            connection.gate.close();
            connection.hang_up();
        }
        for session in sessions {
            let _ = session.join();
        }
    }
}

impl Drop for NbdServer {
    /// Ends all connections, whatever is under way.
    fn drop(&mut self) {
        self.stop(Duration::ZERO);
    }
}

/// How long no client is accepted after the system had no room for one.
const PAUSE: Duration = Duration::from_millis(50);

/// The life of the thread that accepts clients.
struct Host {
    shared: Arc<Shared>,
    clients: Arc<Clients>,
    sockets: Vec<OwnedFd>,
    is_tcp: bool,
    bell: Arc<OwnedFd>,
}

impl Host {
    /// Until the bell rings; the threads of the connections.
    fn run(self) -> Vec<JoinHandle<()>> {
        let mut sessions: Vec<JoinHandle<()>> = Vec::new();
        loop {
            let mut watched = vec![PollFd::new(&*self.bell, PollFlags::IN)];
            let sockets = self.sockets.iter();
            watched.extend(sockets.map(|socket| PollFd::new(socket, PollFlags::IN)));
            if poll(&mut watched, None).is_err() {
                thread::sleep(PAUSE);
            }
            if self.shared.stopping.load(Ordering::SeqCst) {
                return sessions;
            }
            sessions = join_ended(sessions);
            for socket in &self.sockets {
                match accept_with(socket, SocketFlags::CLOEXEC) {
                    Ok(client) => sessions.extend(self.welcome(client)),
                    Err(Errno::WOULDBLOCK | Errno::INTR | Errno::CONNABORTED) => {}
                    Err(error) => {
                        let why = std::io::Error::from(error).to_string();
                        self.shared.troubles.note(0, Kind::Accept, &why);
                        thread::sleep(PAUSE);
                    }
                }
            }
        }
    }

    fn welcome(&self, socket: OwnedFd) -> Option<JoinHandle<()>> {
        let client = self.clients.accepted.fetch_add(1, Ordering::Relaxed);
        let most = self.shared.limits.max_clients;
        let mut here = self.clients.here();
        if here.len() >= most {
            let why = format!("sent away: there are {most} clients, and no more are allowed");
            self.shared.troubles.note(client, Kind::TooMany, &why);
            return None;
        }
        let connection = Arc::new(Connection::new(client, socket));
        here.insert(client, Arc::clone(&connection));
        drop(here);
        if self.is_tcp {
            // A reply is sent whole, and goes at once. A client whose machine is
            // gone is noticed in the end.
            let _ = sockopt::set_tcp_nodelay(&*connection.socket(), true);
            let _ = sockopt::set_socket_keepalive(&*connection.socket(), true);
        }
        let shared = Arc::clone(&self.shared);
        let guest = Guest {
            clients: Arc::clone(&self.clients),
            connection,
        };
        let thread = thread::Builder::new().name("sledsim-nbd".into());
        match thread.spawn(move || session::run(&shared, &guest.connection)) {
            Ok(session) => Some(session),
            Err(error) => {
                let why = format!("no thread: {error}");
                self.shared.troubles.note(client, Kind::Accept, &why);
                None
            }
        }
    }
}

/// Those that have not ended.
fn join_ended(sessions: Vec<JoinHandle<()>>) -> Vec<JoinHandle<()>> {
    let (ended, going): (Vec<_>, Vec<_>) = sessions.into_iter().partition(JoinHandle::is_finished);
    for session in ended {
        let _ = session.join();
    }
    going
}
