//! Clients that send invalid data: raw bytes, or valid frames with invalid messages.

use crate::served::Served;
use bytes::{BufMut, Bytes};
use http_body::{Body, Frame};
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

/// The preface of HTTP/2, with empty settings.
pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";

/// Sends `bytes`; returns the replies until the server closes.
pub fn said_to(served: &Served, bytes: &[u8]) -> Vec<u8> {
    let mut socket = connected(served);
    let _ = socket.write_all(bytes);
    let mut answer = Vec::new();
    let _ = socket.read_to_end(&mut answer);
    answer
}

pub fn connected(served: &Served) -> UnixStream {
    let socket = UnixStream::connect(&served.socket).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
    socket
}

/// A message as gRPC frames it.
pub fn framed(message: &[u8]) -> Bytes {
    let mut framed = vec![0];
    framed.put_u32(message.len() as u32);
    framed.put_slice(message);
    framed.into()
}

/// Frames to send, and whether the stream stays open after them.
pub struct Frames {
    pub frames: VecDeque<Bytes>,
    pub hangs: bool,
}

impl Body for Frames {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.frames.pop_front() {
            None if self.hangs => Poll::Pending,
            next => Poll::Ready(next.map(|bytes| Ok(Frame::data(bytes)))),
        }
    }
}

/// Calls a method with any bytes; returns status and message.
pub fn called(served: &Served, method: &str, frames: &[Bytes]) -> (u32, String) {
    called_with(served, method, frames, false)
}

/// As [`called`]; if it `hangs`, without an end of the stream.
pub fn called_with(served: &Served, method: &str, frames: &[Bytes], hangs: bool) -> (u32, String) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let work = async {
        let stream = tokio::net::UnixStream::connect(&served.socket).await.unwrap();
        let (mut link, connection) =
            http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
        tokio::spawn(async move { drop(connection.await) });
        let body = Frames { frames: frames.iter().cloned().collect(), hangs };
        let request = http::Request::post(format!("http://x/sledsim.v1.MemStore/{method}"))
            .header("content-type", "application/grpc")
            .header("te", "trailers")
            .body(body)
            .unwrap();
        let answer = link.send_request(request).await.unwrap();
        let (mut status, mut message) = in_headers(answer.headers());
        let mut body = answer.into_body();
        while status.is_none() {
            let next = std::future::poll_fn(|context| Pin::new(&mut body).poll_frame(context));
            let Some(frame) = next.await else {
                break;
            };
            if let Ok(trailers) = frame.unwrap().into_trailers() {
                (status, message) = in_headers(&trailers);
            }
        }
        (status.expect("a status"), message)
    };
    runtime.block_on(async { tokio::time::timeout(Duration::from_secs(120), work).await.unwrap() })
}

fn in_headers(headers: &http::HeaderMap) -> (Option<u32>, String) {
    let text = |name| headers.get(name).map(|value| value.to_str().unwrap());
    (
        text("grpc-status").map(|status| status.parse().unwrap()),
        text("grpc-message").unwrap_or_default().replace("%20", " ").replace("%27", "'"),
    )
}
