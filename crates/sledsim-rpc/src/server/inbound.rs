//! Inbound messages: refused when too large; large ones are received one at a time.

use super::Settings;
use bytes::{Buf, Bytes};
use http_body::{Body, Frame};
use sledsim_emulator::net::room::LOOK;
use sledsim_emulator::net::{Room, Share};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Sleep, sleep};
use tonic::Status;

/// Bytes before a message: compression flag and length.
const HEAD: usize = 5;

/// How many times the patience for a handshake a client may be silent in the middle of a
/// message: a client that computes between two calls may not have sent all of it.
const SILENCES: u32 = 6;

/// The size from which a message counts as large, in bytes.
const LARGE: usize = 256 << 10;

/// The most bytes of a message besides its data: the fields of its commands.
const BESIDE: usize = 4 << 20;

/// Bytes of the memory for all connections, given back on drop.
struct Held(Arc<Share>, u64);

impl Held {
    /// Waits until there is room.
    async fn take(share: &Arc<Share>, bytes: u64) -> Self {
        while !share.try_take(bytes) {
            sleep(LOOK).await;
        }
        Self(Arc::clone(share), bytes)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.0.give_back(self.1);
    }
}

/// Limits of a connection's large messages.
#[derive(Clone)]
pub(super) struct LargeMessages {
    one: Arc<Semaphore>,
    most: usize,
    /// What the large messages hold of the memory for all connections.
    share: Arc<Share>,
    /// How long a client may be silent in the middle of a message.
    silence: Duration,
}

impl LargeMessages {
    /// Creates the limits of a connection.
    pub(super) fn new(settings: &Settings, room: &Arc<Room>) -> Self {
        Self {
            one: Arc::new(Semaphore::new(1)),
            most: settings.max_batch_bytes + BESIDE,
            share: Arc::new(Share::new(room)),
            silence: SILENCES * settings.net.admission.patience,
        }
    }
}

/// The turn of a large message, with memory for it.
type Permit = (OwnedSemaphorePermit, Held);

type Turn = Pin<Box<dyn Future<Output = Option<Permit>> + Send>>;

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
    permit: Option<Permit>,
    /// Ends when the client has been silent in the middle of a message for long.
    silence: Option<Pin<Box<Sleep>>>,
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
            silence: None,
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
                let LargeMessages { one, share, .. } = self.large.clone();
                let bytes = self.left as u64;
                self.turn = Some(Box::pin(async move {
                    let one = one.acquire_owned().await.ok()?;
                    Some((one, Held::take(&share, bytes).await))
                }));
            }
        }
        Ok(())
    }
}

impl<B: Body<Data = Bytes>> Inbound<B>
where
    B::Error: Into<tonic::codegen::StdError>,
{
    /// Fails once the client has been silent in the middle of a message for long.
    fn poll_silence(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, tonic::codegen::StdError>>> {
        if self.left == 0 && self.have == 0 {
            return Poll::Pending;
        }
        let limit = self.large.silence;
        let silence = self.silence.get_or_insert_with(|| Box::pin(sleep(limit)));
        ready!(silence.as_mut().poll(context));
        let s = limit.as_secs_f64();
        let why = format!("silent for {s} s in the middle of a message");
        Poll::Ready(Some(Err(Status::deadline_exceeded(why).into())))
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
            let Poll::Ready(received) = Pin::new(&mut self.body).poll_frame(context) else {
                return self.poll_silence(context);
            };
            self.silence = None;
            let frame = match received {
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
