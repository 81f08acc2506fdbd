//! The listener of a server: accepts clients until it is closed.

use super::listening::{Listening, SocketFile};
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{SocketFlags, accept_with, sockopt};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Pause after the system had no resources to accept a client.
const PAUSE: Duration = Duration::from_millis(50);

/// The system asks a client that has been silent so long whether it is there, again at
/// intervals, and ends its connection after so many questions without an answer.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(60);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(10);
const KEEPALIVE_PROBES: u32 = 6;

/// Accepts clients in a thread of its own until it is closed; dropping it does not stop
/// it.
pub struct Listener {
    thread: JoinHandle<Vec<JoinHandle<()>>>,
    wakeup: Arc<OwnedFd>,
    closed: Arc<AtomicBool>,
    _file: Option<SocketFile>,
}

/// Handles an accepted client, or the error; returns the thread that serves it.
type OnAccept = dyn FnMut(io::Result<OwnedFd>) -> Option<JoinHandle<()>> + Send;

impl Listener {
    /// Starts to accept clients and passes each to `on_accept`.
    pub fn open(listening: Listening, name: &str, on_accept: Box<OnAccept>) -> io::Result<Self> {
        let wakeup = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let wakeup = Arc::new(wakeup);
        let closed = Arc::new(AtomicBool::new(false));
        let accept_loop = AcceptLoop {
            is_tcp: listening.is_tcp(),
            sockets: listening.sockets,
            wakeup: Arc::clone(&wakeup),
            closed: Arc::clone(&closed),
            on_accept,
        };
        let thread =
            thread::Builder::new().name(name.to_owned()).spawn(move || accept_loop.run())?;
        Ok(Self { thread, wakeup, closed, _file: listening.file })
    }

    /// Accepts no more clients; returns the threads of the clients, some of which may
    /// have ended.
    pub fn close(self) -> Vec<JoinHandle<()>> {
        self.closed.store(true, Ordering::SeqCst);
        let _ = rustix::io::write(&self.wakeup, &1u64.to_ne_bytes());
        self.thread.join().unwrap_or_default()
    }
}

/// The state of the thread that accepts clients.
struct AcceptLoop {
    is_tcp: bool,
    sockets: Vec<OwnedFd>,
    wakeup: Arc<OwnedFd>,
    closed: Arc<AtomicBool>,
    on_accept: Box<OnAccept>,
}

impl AcceptLoop {
    /// Accepts clients until it is woken up to end; returns the threads of the
    /// connections.
    fn run(mut self) -> Vec<JoinHandle<()>> {
        let mut sessions: Vec<JoinHandle<()>> = Vec::new();
        loop {
            let mut watched = vec![PollFd::new(&*self.wakeup, PollFlags::IN)];
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
                            // Answers are sent at once. Keepalive detects a client
                            // whose machine is gone.
                            let _ = sockopt::set_tcp_nodelay(&client, true);
                            let _ = sockopt::set_socket_keepalive(&client, true);
                            let _ = sockopt::set_tcp_keepidle(&client, KEEPALIVE_IDLE);
                            let _ = sockopt::set_tcp_keepintvl(&client, KEEPALIVE_INTERVAL);
                            let _ = sockopt::set_tcp_keepcnt(&client, KEEPALIVE_PROBES);
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

/// Joins ended threads; returns the others.
fn join_ended(sessions: Vec<JoinHandle<()>>) -> Vec<JoinHandle<()>> {
    let (ended, going): (Vec<_>, Vec<_>) = sessions.into_iter().partition(JoinHandle::is_finished);
    for session in ended {
        let _ = session.join();
    }
    going
}
