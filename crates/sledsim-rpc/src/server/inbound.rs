//! Inbound messages: refused when too large; large ones are received one at a time.

use bytes::{Buf, Bytes};
use http_body::{Body, Frame};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tonic::Status;

/// Bytes before a message: compression flag and length.
const HEAD: usize = 5;

/// The size from which a message counts as large, in bytes.
const LARGE: usize = 256 << 10;

/// The most bytes of a message besides its data: the fields of its commands.
const BESIDE: usize = 4 << 20;

/// Limits of a connection's large messages.
#[derive(Clone)]
pub(super) struct LargeMessages {
    one: Arc<Semaphore>,
    most: usize,
}

impl LargeMessages {
    /// Creates the limits, with at most `data` bytes of data in a message.
    pub(super) fn new(data: usize) -> Self {
        Self {
            one: Arc::new(Semaphore::new(1)),
            most: data + BESIDE,
        }
    }
}

type Turn = Pin<Box<dyn Future<Output = Option<OwnedSemaphorePermit>> + Send>>;

/// The body of a call.
pub(super) struct Inbound<B> {
    body: B,
    large: LargeMessages,
    /// The header of the next message, as far as received.
    head: [u8; HEAD],
    have: usize,
    /// Bytes of the current message still to come.
    left: usize,
    /// Data received before a large message got its turn.
    kept: Option<Bytes>,
    turn: Option<Turn>,
    permit: Option<OwnedSemaphorePermit>,
}

impl<B> Inbound<B> {
    pub(super) fn new(body: B, large: &LargeMessages) -> Self {
        Self {
            body,
            large: large.clone(),
            head: [0; HEAD],
            have: 0,
            left: 0,
            kept: None,
            turn: None,
            permit: None,
        }
    }

    /// Parses message headers in `data`; sets `turn` if a large message has to wait.
    fn look(&mut self, data: &Bytes) -> Result<(), Status> {
        let mut data = &data[..];
        while !data.is_empty() {
            if self.left > 0 {
                let here = self.left.min(data.len());
                data.advance(here);
                self.left -= here;
                if self.left == 0 {
                    self.permit = None;
                }
                continue;
            }
            self.head[self.have] = data.get_u8();
            self.have += 1;
            if self.have < HEAD {
                continue;
            }
            self.have = 0;
            let [_, length @ ..] = self.head;
            self.left = u32::from_be_bytes(length) as usize;
            let most = self.large.most;
            if self.left > most {
                return Err(Status::resource_exhausted(format!(
                    "a message of {} bytes: must be at most {most}",
                    self.left
                )));
            }
            if self.left >= LARGE && self.permit.is_none() && self.left > data.len() {
                let one = Arc::clone(&self.large.one);
                self.turn = Some(Box::pin(async move { one.acquire_owned().await.ok() }));
            }
        }
        Ok(())
    }
}

impl<B> Body for Inbound<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<tonic::codegen::StdError>,
{
    type Data = Bytes;
    type Error = tonic::codegen::StdError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        loop {
            if let Some(turn) = &mut self.turn {
                let permit = ready!(turn.as_mut().poll(context));
                self.turn = None;
                self.permit = permit;
            }
            if let Some(kept) = self.kept.take() {
                return Poll::Ready(Some(Ok(Frame::data(kept))));
            }
            let frame = match ready!(Pin::new(&mut self.body).poll_frame(context)) {
                None => return Poll::Ready(None),
                Some(Err(error)) => return Poll::Ready(Some(Err(error.into()))),
                Some(Ok(frame)) => frame,
            };
            match frame.into_data() {
                Err(other) => return Poll::Ready(Some(Ok(other))),
                Ok(data) => {
                    if let Err(status) = self.look(&data) {
                        return Poll::Ready(Some(Err(status.into())));
                    }
                    self.kept = Some(data);
                }
            }
        }
    }
}
