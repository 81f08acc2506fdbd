//! The socket of a client, plain or with TLS.
//!
//! One thread receives and may block; any thread sends, without blocking. With TLS both take
//! the lock of its state, never while they wait for the client.

use super::client_errors::ClientErrorKind;
use super::end::End;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{SendAncillaryBuffer, SendFlags, Shutdown, sendmsg, shutdown};
use rustls::{ServerConfig, ServerConnection};
use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// The most encrypted bytes that wait for the client to read.
const HELD: usize = 64 << 10;

/// The most encrypted bytes received at once.
const BUFFER: usize = 32 << 10;

/// Time for a client to read the last bytes.
const LINGER: Duration = Duration::from_secs(1);

/// The socket of a client.
pub(crate) struct Socket {
    fd: OwnedFd,
    tls: OnceLock<Mutex<ServerConnection>>,
}

/// Encrypted bytes from the client that have not been decrypted.
#[derive(Default)]
pub(super) struct Encrypted {
    buffer: Vec<u8>,
    held: Range<usize>,
}

impl Socket {
    /// That of a connected socket, without TLS.
    pub(super) fn new(fd: OwnedFd) -> Self {
        Self { fd, tls: OnceLock::new() }
    }

    /// Its descriptor.
    pub(crate) fn fd(&self) -> &OwnedFd {
        &self.fd
    }

    /// Starts TLS: from now on all bytes are encrypted. Called once.
    pub(crate) fn start_tls(&self, config: &Arc<ServerConfig>) -> Result<(), rustls::Error> {
        let mut tls = ServerConnection::new(Arc::clone(config))?;
        tls.set_buffer_limit(Some(HELD));
        let _ = self.tls.set(Mutex::new(tls));
        Ok(())
    }

    fn tls(&self) -> Option<MutexGuard<'_, ServerConnection>> {
        let tls = self.tls.get()?;
        Some(tls.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Receives bytes; 0 if the client sends no more. `wait` receives them from the
    /// descriptor, and may block. With TLS, bytes that could not be decrypted yet stay in
    /// `encrypted`.
    pub(super) fn receive(
        &self,
        buffer: &mut [u8],
        encrypted: &mut Encrypted,
        mut wait: impl FnMut(&OwnedFd, &mut [u8]) -> Result<usize, End>,
    ) -> Result<usize, End> {
        if self.tls.get().is_none() {
            return wait(&self.fd, buffer);
        }
        loop {
            if let Some(mut tls) = self.tls() {
                match tls.reader().read(buffer) {
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                    // Ended with or without a notification.
                    some => return Ok(some.unwrap_or(0)),
                }
            }
            if encrypted.held.is_empty() {
                encrypted.buffer.resize(BUFFER, 0);
                let some = wait(&self.fd, &mut encrypted.buffer)?;
                if some == 0 {
                    return Ok(0);
                }
                encrypted.held = 0..some;
            }
            self.decrypt(encrypted)?;
        }
    }

    /// Decrypts some of the bytes.
    fn decrypt(&self, encrypted: &mut Encrypted) -> Result<(), End> {
        let Some(mut tls) = self.tls() else {
            return Ok(());
        };
        let mut bytes = &encrypted.buffer[encrypted.held.clone()];
        let taken = tls.read_tls(&mut bytes);
        let done = taken.map_err(|error| error.to_string()).and_then(|taken| {
            encrypted.held.start += taken;
            tls.process_new_packets().map_err(|error| error.to_string())
        });
        // Send the next part of the handshake, or the alert that says why it failed.
        let _ = flush(&self.fd, &mut tls);
        done.map(drop).map_err(|why| End::Bad(ClientErrorKind::Tls, why))
    }

    /// Sends bytes without blocking; returns how many were taken. TLS may hold them until
    /// [`Socket::flush`].
    pub(super) fn send(&self, parts: &[IoSlice<'_>]) -> Result<usize, Errno> {
        let Some(mut tls) = self.tls() else {
            return send(&self.fd, parts);
        };
        flush(&self.fd, &mut tls)?;
        let taken = tls.writer().write_vectored(parts).map_err(|_| Errno::PIPE)?;
        match flush(&self.fd, &mut tls) {
            Ok(()) | Err(Errno::WOULDBLOCK) => Ok(taken),
            Err(error) => Err(error),
        }
    }

    /// Sends what TLS holds, without blocking.
    pub(super) fn flush(&self) -> Result<(), Errno> {
        self.tls().map_or(Ok(()), |mut tls| flush(&self.fd, &mut tls))
    }

    /// Waits at most so long until bytes can be sent; returns whether they can.
    pub(super) fn wait_writable(&self, patience: Duration) -> bool {
        let mut polled = [PollFd::new(&self.fd, PollFlags::OUT)];
        poll(&mut polled, Timespec::try_from(patience).ok().as_ref()) != Ok(0)
    }

    /// Lets the client read what TLS holds, for a second at most.
    pub(super) fn linger(&self) {
        let end = Instant::now() + LINGER;
        while self.flush() == Err(Errno::WOULDBLOCK) {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() || !self.wait_writable(left) {
                return;
            }
        }
    }

    /// Stops receiving and sending; bytes already sent still arrive.
    pub(crate) fn close(&self) {
        if let Some(mut tls) = self.tls() {
            tls.send_close_notify();
            let _ = flush(&self.fd, &mut tls);
        }
        let _ = shutdown(&self.fd, Shutdown::Both);
    }
}

fn flush(fd: &OwnedFd, tls: &mut ServerConnection) -> Result<(), Errno> {
    while tls.wants_write() {
        match tls.write_tls(&mut Descriptor(fd)) {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(Errno::from_io_error(&error).unwrap_or(Errno::IO)),
        }
    }
    Ok(())
}

fn send(fd: &OwnedFd, parts: &[IoSlice<'_>]) -> Result<usize, Errno> {
    let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
    sendmsg(fd, parts, &mut SendAncillaryBuffer::default(), flags)
}

/// A socket to which TLS writes.
struct Descriptor<'a>(&'a OwnedFd);

impl Write for Descriptor<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_vectored(&[IoSlice::new(bytes)])
    }

    fn write_vectored(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        Ok(send(self.0, parts)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
