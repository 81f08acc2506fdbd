//! Holds the permits of an answer until it has been sent.

use super::limiter::Permit;
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// The permits of an answer.
#[derive(Clone)]
pub(super) struct SharedPermits(
    #[expect(dead_code, reason = "held until it is dropped")] Arc<Permit>,
);

impl SharedPermits {
    pub(super) fn new(taken: Permit) -> Self {
        Self(Arc::new(taken))
    }
}

/// A body with permits that are returned when it is dropped.
pub(super) struct PermittedBody<B> {
    body: B,
    _hold: Option<SharedPermits>,
}

impl<B> PermittedBody<B> {
    pub(super) fn new(body: B, permits: Option<SharedPermits>) -> Self {
        Self { body, _hold: permits }
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for PermittedBody<B> {
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
