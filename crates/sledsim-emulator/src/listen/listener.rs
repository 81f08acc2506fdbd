//! The door of a server: accepts clients until it is closed.

use super::{Listening, SocketFile};
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{SocketFlags, accept_with, sockopt};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How long no client is accepted after the system had no room for one.
const PAUSE: Duration = Duration::from_millis(50);

/// What accepts clients, in a thread of its own; one that is not closed goes on.
pub struct Listener {
    thread: JoinHandle<Vec<JoinHandle<()>>>,
    bell: Arc<OwnedFd>,
    closed: Arc<AtomicBool>,
    _file: Option<SocketFile>,
}

/// Takes a client, or why there is none; the thread that serves it.
type OnAccept = dyn FnMut(io::Result<OwnedFd>) -> Option<JoinHandle<()>> + Send;

impl Listener {
    /// Lets clients in, each of which is handed to `on_accept`.
    ///
    /// # Errors
    /// If the system has no thread for it.
    pub fn open(listening: Listening, name: &str, on_accept: Box<OnAccept>) -> io::Result<Self> {
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let bell = Arc::new(bell);
        let closed = Arc::new(AtomicBool::new(false));
        let host = AcceptLoop {
            is_tcp: listening.is_tcp(),
            sockets: listening.sockets,
            bell: Arc::clone(&bell),
            closed: Arc::clone(&closed),
            on_accept,
        };
        let thread = thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || host.run())?;
        Ok(Self {
            thread,
            bell,
            closed,
            _file: listening.file,
        })
    }

    /// Lets nobody in any more; the threads of the clients, which may have ended.
    #[must_use]
    pub fn close(self) -> Vec<JoinHandle<()>> {
        self.closed.store(true, Ordering::SeqCst);
        let _ = rustix::io::write(&self.bell, &1u64.to_ne_bytes());
        self.thread.join().unwrap_or_default()
    }
}

/// The life of the thread that accepts clients.
struct AcceptLoop {
    is_tcp: bool,
    sockets: Vec<OwnedFd>,
    bell: Arc<OwnedFd>,
    closed: Arc<AtomicBool>,
    on_accept: Box<OnAccept>,
}

impl AcceptLoop {
    /// Until the bell rings; the threads of the connections.
    fn run(mut self) -> Vec<JoinHandle<()>> {
        let mut sessions: Vec<JoinHandle<()>> = Vec::new();
        loop {
            let mut watched = vec![PollFd::new(&*self.bell, PollFlags::IN)];
            let sockets = self.sockets.iter();
            watched.extend(sockets.map(|socket| PollFd::new(socket, PollFlags::IN)));
            if poll(&mut watched, None).is_err() {
                thread::sleep(PAUSE);
            }
            if self.closed.load(Ordering::SeqCst) {
                return sessions;
            }
            sessions = join_ended(sessions);
            for socket in &self.sockets {
                match accept_with(socket, SocketFlags::CLOEXEC) {
                    Ok(client) => {
                        if self.is_tcp {
                            // An answer goes at once. A client whose machine is gone
                            // is noticed in the end.
                            let _ = sockopt::set_tcp_nodelay(&client, true);
                            let _ = sockopt::set_socket_keepalive(&client, true);
                        }
                        sessions.extend((self.on_accept)(Ok(client)));
                    }
                    Err(Errno::WOULDBLOCK | Errno::INTR | Errno::CONNABORTED) => {}
                    Err(error) => {
                        sessions.extend((self.on_accept)(Err(error.into())));
                        thread::sleep(PAUSE);
                    }
                }
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
