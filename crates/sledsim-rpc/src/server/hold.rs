//! What an answer takes, until it was sent.

use super::room::Taken;
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// Room that goes with an answer.
#[derive(Clone)]
pub(super) struct Hold(#[expect(dead_code, reason = "held until it is dropped")] Arc<Taken>);

impl Hold {
    pub(super) fn new(taken: Taken) -> Self {
        Self(Arc::new(taken))
    }
}

/// A body, and the room that it gives back when it is gone.
pub(super) struct Held<B> {
    body: B,
    _hold: Option<Hold>,
}

impl<B> Held<B> {
    pub(super) fn new(body: B, hold: Option<Hold>) -> Self {
        Self { body, _hold: hold }
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for Held<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
