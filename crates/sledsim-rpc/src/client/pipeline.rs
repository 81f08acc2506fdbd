//! Pipelines: many batches in flight.

use super::remote::nonsense;
use super::{Answer, Client, Code, Command, Error, Remote, Result};
use crate::v1;
use std::collections::HashMap;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::sync::mpsc;
use tonic::codegen::tokio_stream::Stream;
use tonic::{Status, Streaming};

/// A stream of batches; answers arrive in order of completion. Dropping it discards the
/// answers of batches in flight, which the server still executes.
///
/// Batches are sent by the next call that waits: [`Pipeline::receive`], or
/// [`Pipeline::flush`].
pub struct Pipeline {
    remote: Remote,
    most: usize,
    /// Tag of the next batch.
    tag: u64,
    under_way: HashMap<u64, Vec<Command>>,
    batches: Option<mpsc::UnboundedSender<v1::BatchRequest>>,
    answers: Streaming<v1::BatchResponse>,
}

/// The stream of batches to send.
struct Outgoing(mpsc::UnboundedReceiver<v1::BatchRequest>);

impl Stream for Outgoing {
    type Item = v1::BatchRequest;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(context)
    }
}

impl Remote {
    /// Starts a pipeline of up to `under_way` batches in flight.
    ///
    /// # Errors
    /// [`Error::Refused`] if the server allows no more pipelines.
    ///
    /// # Panics
    /// If `under_way` is 0.
    pub fn pipeline(&self, under_way: usize) -> Result<Pipeline> {
        assert!(under_way > 0, "under_way = 0: must be at least 1");
        let (batches, outgoing) = mpsc::unbounded_channel();
        let client = self.client();
        let answers = client.call(async |mut store| store.batches(Outgoing(outgoing)).await)?;
        Ok(Pipeline {
            remote: self.clone(),
            most: under_way,
            tag: 0,
            under_way: HashMap::new(),
            batches: Some(batches),
            answers,
        })
    }
}

impl Pipeline {
    /// Number of batches in flight.
    pub fn under_way(&self) -> usize {
        self.under_way.len()
    }

    /// Whether an answer must be received before the next batch.
    pub fn is_full(&self) -> bool {
        self.under_way.len() >= self.most
    }

    /// Sends a batch; returns its tag, counted from 0 in this pipeline.
    ///
    /// # Errors
    /// [`Error::Ended`] if the stream has ended; [`Error::Refused`] if it is full.
    pub fn send(&mut self, commands: Vec<Command>, must_be_parallel: bool) -> Result<u64> {
        if self.is_full() {
            return Err(Error::Refused {
                code: Code::ResourceExhausted,
                message: format!(
                    "{} batches are under way, and no more may be: receive one first",
                    self.most
                ),
            });
        }
        let tag = self.tag;
        let request = self.remote.request(&commands, must_be_parallel, tag);
        let sent = self.batches.as_ref().map(|batches| batches.send(request));
        if !matches!(sent, Some(Ok(()))) {
            return Err(self.ended());
        }
        self.tag += 1;
        self.under_way.insert(tag, commands);
        Ok(tag)
    }

    /// Sends batches queued so far, without waiting for answers.
    pub fn flush(&mut self) {
        let client = self.remote.client();
        // The stream passes it to the connection, which passes it to the socket.
        client.runtime().block_on(async {
            for _ in 0..2 {
                tokio::task::yield_now().await;
            }
        });
    }

    /// Waits for the next answer: the tag of its batch, and its result or refusal;
    /// `None` if none is in flight.
    pub fn receive(&mut self) -> Result<Option<(u64, Result<Answer>)>> {
        if self.under_way.is_empty() {
            return Ok(None);
        }
        let client: Client = self.remote.client().clone();
        let answer = client.wait(self.answers.message())?;
        self.take(answer).map(Some)
    }

    /// As [`Pipeline::receive`], if an answer is there already.
    pub fn try_receive(&mut self) -> Result<Option<(u64, Result<Answer>)>> {
        if self.under_way.is_empty() {
            return Ok(None);
        }
        let client: Client = self.remote.client().clone();
        let answer = client.runtime().block_on(async {
            tokio::task::yield_now().await;
            let mut message = std::pin::pin!(self.answers.message());
            poll_fn(|context| match message.as_mut().poll(context) {
                Poll::Ready(answer) => Poll::Ready(Some(answer)),
                Poll::Pending => Poll::Ready(None),
            })
            .await
        });
        answer.map(|answer| self.take(answer)).transpose()
    }

    /// Converts a message of the stream to an answer.
    fn take(
        &mut self,
        answer: std::result::Result<Option<v1::BatchResponse>, Status>,
    ) -> Result<(u64, Result<Answer>)> {
        let client = self.remote.client();
        let answer = match answer {
            Ok(Some(answer)) => answer,
            Ok(None) => return Err(self.ended()),
            Err(status) => {
                self.batches = None;
                return Err(client.failed(&status));
            }
        };
        let tag = answer.tag;
        let Some(commands) = self.under_way.remove(&tag) else {
            return Err(nonsense(client, "answered a batch that was not sent"));
        };
        let done = match answer.refused {
            Some(refusal) => {
                Err(client.failed(&Status::new(Code::from_i32(refusal.code), refusal.message)))
            }
            None => self.remote.answer(answer, &commands),
        };
        Ok((tag, done))
    }

    fn ended(&self) -> Error {
        let address = self.remote.client().address();
        Error::Ended(format!("server at '{address}' has ended the stream"))
    }
}
