//! TLS between a client's socket and the rest of the server, which uses another socket
//! with the decrypted bytes.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, Shutdown, SocketFlags, SocketType, recv, send, shutdown,
    socketpair,
};
use rustls::{ServerConfig, ServerConnection};
use std::io::{self, ErrorKind, Read, Write};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Time for a client to read the last bytes.
const LINGER: Duration = Duration::from_secs(1);

/// The most bytes transferred at once.
const BUFFER: usize = 64 << 10;

/// The thread that transfers the bytes.
pub(super) struct TlsProxy(JoinHandle<Option<String>>);

impl TlsProxy {
    /// Starts TLS on `net`; returns the socket with the decrypted bytes.
    pub(super) fn start(
        net: Arc<OwnedFd>,
        config: Arc<ServerConfig>,
    ) -> io::Result<(Self, OwnedFd)> {
        let mut tls = ServerConnection::new(config).map_err(io::Error::other)?;
        tls.set_buffer_limit(None);
        let (plain, other) =
            socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        let mut pump = Pump {
            net: Socket(net),
            plain: Socket(plain),
            tls,
            inbox: Vec::new(),
            net_ended: false,
            plain_ended: false,
            eof_sent: false,
            closing: None,
        };
        let thread = thread::Builder::new()
            .name("sledsim-nbd-tls".into())
            .spawn(move || pump.run().err().map(|error| error.to_string()))?;
        Ok((Self(thread), other))
    }

    /// Waits for its end; returns the error of TLS, if any.
    pub(super) fn join(self) -> Option<String> {
        self.0.join().ok().flatten()
    }
}

/// A socket for non-blocking reads and writes.
struct Socket<F: AsFd>(F);

impl<F: AsFd> Read for Socket<F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (_, some) = recv(&self.0, buffer, RecvFlags::DONTWAIT)?;
        Ok(some)
    }
}

impl<F: AsFd> Write for Socket<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        Ok(send(&self.0, bytes, flags)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Pump {
    net: Socket<Arc<OwnedFd>>,
    plain: Socket<OwnedFd>,
    tls: ServerConnection,
    /// Decrypted bytes from the client, for the server.
    inbox: Vec<u8>,
    net_ended: bool,
    plain_ended: bool,
    /// Whether the server has been sent the end of file.
    eof_sent: bool,
    closing: Option<Instant>,
}

/// Whether to try again later.
fn later(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

impl Pump {
    /// Transfers bytes until either side is gone; the error if TLS failed.
    fn run(&mut self) -> io::Result<()> {
        let mut buffer = vec![0; BUFFER];
        loop {
            if !self.flush_both()? || (self.plain_ended && !self.tls.wants_write()) {
                return Ok(());
            }
            let Some([net, plain]) = self.wait() else {
                return Ok(());
            };
            if plain.contains(PollFlags::HUP) && self.closing.is_none() {
                self.closing = Some(Instant::now() + LINGER);
            }
            let ready = PollFlags::IN | PollFlags::HUP | PollFlags::ERR;
            if net.intersects(ready) && self.wants_net() && !self.take_net(&mut buffer)? {
                return Ok(());
            }
            if plain.intersects(ready) && self.wants_plain() && !self.take_plain(&mut buffer)? {
                return Ok(());
            }
        }
    }

    fn wants_net(&self) -> bool {
        !self.net_ended && self.inbox.is_empty() && self.tls.wants_read()
    }

    fn wants_plain(&self) -> bool {
        !self.plain_ended && !self.tls.wants_write()
    }

    /// Waits for something to do; `None` when the time to close is over.
    fn wait(&self) -> Option<[PollFlags; 2]> {
        let only = |wanted, flag| if wanted { flag } else { PollFlags::empty() };
        let net =
            only(self.wants_net(), PollFlags::IN) | only(self.tls.wants_write(), PollFlags::OUT);
        let plain =
            only(self.wants_plain(), PollFlags::IN) | only(!self.inbox.is_empty(), PollFlags::OUT);
        // A closed socket is always ready: leave it out if there is nothing to do for
        // it.
        let watch_net = !net.is_empty();
        let watch_plain = !plain.is_empty() || (!self.plain_ended && self.closing.is_none());
        let left = match self.closing {
            Some(end) => {
                let left = end.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    return None;
                }
                Timespec::try_from(left).ok()
            }
            None => None,
        };
        let mut watched = Vec::with_capacity(2);
        if watch_net {
            watched.push(PollFd::new(&self.net.0, net));
        }
        if watch_plain {
            watched.push(PollFd::new(&self.plain.0, plain));
        }
        match poll(&mut watched, left.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return None,
        }
        let mut seen = watched.iter().map(PollFd::revents);
        let mut of = |watched: bool| if watched { seen.next() } else { None };
        let (net, plain) = (of(watch_net), of(watch_plain));
        Some([net, plain].map(|seen| seen.unwrap_or(PollFlags::empty())))
    }

    /// Sends pending bytes to both sides; false if one is gone.
    fn flush_both(&mut self) -> io::Result<bool> {
        while self.tls.wants_write() {
            match self.tls.write_tls(&mut self.net) {
                Ok(_) => {}
                Err(error) if later(&error) => break,
                Err(_) => return Ok(false),
            }
        }
        while !self.inbox.is_empty() {
            match self.plain.write(&self.inbox) {
                Ok(some) => drop(self.inbox.drain(..some)),
                Err(error) if later(&error) => break,
                // The server reads no more, but may have sent a reply.
                Err(_) => self.inbox.clear(),
            }
        }
        if self.net_ended && self.inbox.is_empty() && !self.eof_sent {
            let _ = shutdown(&self.plain.0, Shutdown::Write);
            self.eof_sent = true;
        }
        Ok(true)
    }

    /// Reads from the client; false if it is gone.
    fn take_net(&mut self, buffer: &mut [u8]) -> io::Result<bool> {
        match self.tls.read_tls(&mut self.net) {
            Ok(0) => self.net_ended = true,
            Ok(_) => {}
            Err(error) if later(&error) => return Ok(true),
            Err(_) => return Ok(false),
        }
        if let Err(error) = self.tls.process_new_packets() {
            // Send the TLS alert, if possible at once.
            let _ = self.tls.write_tls(&mut self.net);
            return Err(io::Error::other(error));
        }
        loop {
            match self.tls.reader().read(buffer) {
                Ok(0) => {
                    self.net_ended = true;
                    return Ok(true);
                }
                Ok(some) => self.inbox.extend_from_slice(&buffer[..some]),
                Err(error) if later(&error) => return Ok(true),
                // Closed without a TLS close notification.
                Err(_) => {
                    self.net_ended = true;
                    return Ok(true);
                }
            }
        }
    }

    /// Reads from the server; false if it is gone.
    fn take_plain(&mut self, buffer: &mut [u8]) -> io::Result<bool> {
        match self.plain.read(buffer) {
            Ok(0) => {
                self.plain_ended = true;
                self.closing.get_or_insert(Instant::now() + LINGER);
                self.tls.send_close_notify();
            }
            Ok(some) => self.tls.writer().write_all(&buffer[..some])?,
            Err(error) if later(&error) => {}
            Err(_) => return Ok(false),
        }
        Ok(true)
    }
}

impl Drop for Pump {
    /// Shuts down both sockets.
    fn drop(&mut self) {
        let _ = shutdown(&*self.net.0, Shutdown::Both);
        let _ = shutdown(&self.plain.0, Shutdown::Both);
    }
}
