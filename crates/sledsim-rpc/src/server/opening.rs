//! The first bytes of a connection, which must be the HTTP/2 preface.

use rustix::fd::OwnedFd;
use rustix::net::{SendFlags, Shutdown, send, shutdown};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};

/// The preface of HTTP/2.
const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The answer to a client that speaks HTTP/1.
const ANSWER: &[u8] = b"HTTP/1.1 505 HTTP Version Not Supported\r\ncontent-type: text/plain\r\n\
connection: close\r\n\r\nThis is a sledsim server for gRPC, which is HTTP/2.\n";

/// Tells a client that has no place why, as HTTP/2 does: SETTINGS, then GOAWAY with
/// `ENHANCE_YOUR_CALM`. It may be gone already.
pub(super) fn refuse(socket: &OwnedFd, why: &str) {
    let mut bytes = vec![0, 0, 0, 4, 0, 0, 0, 0, 0];
    let [.., high, middle, low] = (8 + why.len() as u32).to_be_bytes();
    bytes.extend_from_slice(&[high, middle, low, 7, 0, 0, 0, 0, 0]);
    bytes.extend_from_slice(&[0, 0, 0, 0, 0, 0, 0, 0xb]);
    bytes.extend_from_slice(why.as_bytes());
    let _ = send(socket, &bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL);
    let _ = shutdown(socket, Shutdown::Write);
}

/// An error in the first bytes.
pub(super) enum BadPreface {
    /// Closed or broken before the preface was complete.
    Closed,
    /// Bytes other than the preface.
    Other(String),
}

/// Reads the preface.
pub(super) async fn read(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
) -> Result<(), BadPreface> {
    let mut bytes = [0; PREFACE.len()];
    let mut have = 0;
    while have < bytes.len() {
        match stream.read(&mut bytes[have..]).await {
            Ok(more) if more > 0 => have += more,
            _ => return Err(BadPreface::Closed),
        }
        if bytes[..have] != PREFACE[..have] {
            let received = bytes[..have].escape_ascii();
            let what = match bytes {
                [0x16, 3, ..] => "TLS, which this server does not speak".to_owned(),
                _ if is_http(&bytes[..have]) => {
                    let _ = stream.write_all(ANSWER).await;
                    let _ = stream.shutdown().await;
                    format!("HTTP/1 ('{received}')")
                }
                _ => format!("'{received}'"),
            };
            return Err(BadPreface::Other(format!(
                "sent {what}, which is not gRPC: must begin as HTTP/2 does"
            )));
        }
    }
    Ok(())
}

fn is_http(received: &[u8]) -> bool {
    ["GET ", "POST", "PUT ", "HEAD", "OPTI", "CONN", "DELE"]
        .iter()
        .any(|method| received.starts_with(method.as_bytes()))
}

/// A stream that returns the preface, already read, before further bytes.
pub(super) struct WithPreface<S> {
    stream: S,
    first: &'static [u8],
}

impl<S> WithPreface<S> {
    /// Wraps a stream after [`read`].
    pub(super) fn new(stream: S) -> Self {
        Self { stream, first: PREFACE }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WithPreface<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.first.is_empty() {
            return Pin::new(&mut self.stream).poll_read(context, buffer);
        }
        let (now, later) = self.first.split_at(self.first.len().min(buffer.remaining()));
        buffer.put_slice(now);
        self.first = later;
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WithPreface<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
