//! The medium of a table on a server.
//!
//! Requests of a run go through a pipeline: enough are in flight to keep a sled busy
//! despite the round-trip time. Each extent is a command, so several form a batch. Data
//! read are kept here for as long as a call needs them.

use super::{Command, Error as RemoteError, Pipeline, Remote};
use crate::v1::Batching;
use sledsim_base::error::{Error, Result};
use sledsim_base::request::{Extent, Op};
use sledsim_base::units::{BLOCK_BYTES, Nanos};
use sledsim_core::catalog::Device;
use sledsim_experiments::relational::{Cost, Drive, Medium, Store};
use std::thread;
use std::time::{Duration, Instant};

/// Requests in flight. A track of 270 blocks takes a sled some 3.5 ms; the operating
/// system may suspend this process for tens of ms.
const IN_FLIGHT: usize = 16;

/// A served sled as the medium of tables.
pub struct RemoteMedium {
    remote: Remote,
    device: Device,
    /// Started with the first request.
    pipeline: Option<Pipeline>,
    pages: Store,
    /// Cost since the last [`Medium::took`], without the time.
    cost: Cost,
    /// Arrival of the first request since then.
    begun: Option<Nanos>,
    /// Completion of the last request, or the end of idling.
    clock: Nanos,
    origin: Nanos,
    /// The first request that failed since [`Medium::wait`].
    failed: Option<Error>,
    /// Why the medium is unusable.
    ended: Option<String>,
    /// Time of the last check whether to give up.
    looked: Instant,
}

impl RemoteMedium {
    /// Creates a medium on the sled `remote`.
    ///
    /// # Errors
    /// [`Error::Key`] unless it is a single writable sled without a layout, buffer or
    /// background tasks.
    pub fn new(remote: &Remote) -> Result<Self> {
        let about = remote.about();
        let refuse = |why: String| {
            let (name, address) = (remote.name(), remote.client().address());
            Err(Error::Key(format!("export '{name}' of server at '{address}': {why}")))
        };
        if remote.is_read_only() {
            return refuse("is read-only: a table is written to it".to_owned());
        }
        let what = if !about.layout.is_empty() {
            format!("has the layout {}", about.layout)
        } else if about.batching() == Batching::Refused {
            "does not take batches".to_owned()
        } else {
            String::new()
        };
        if !what.is_empty() {
            return refuse(format!(
                "{what}: a table must be on a single sled (kind \"mems\"), without a layout, a \
                 buffer or background tasks"
            ));
        }
        let device = remote.device().map_err(|error| to_error(&error))?;
        Drive::new(&device)?;
        Ok(Self {
            remote: remote.clone(),
            device,
            pipeline: None,
            pages: Store::default(),
            cost: Cost::default(),
            begun: None,
            clock: Nanos::ZERO,
            origin: Nanos::ZERO,
            failed: None,
            ended: None,
            looked: Instant::now(),
        })
    }

    /// Ends the pipeline with `error`; the medium becomes unusable, unless the call was
    /// given up.
    fn end(&mut self, error: &RemoteError) -> Error {
        let why = error.to_string();
        self.pipeline = None;
        if *error == RemoteError::GivenUp {
            return to_error(error);
        }
        self.ended = Some(why.clone());
        Error::Request(format!("{why}; the table cannot be used any more"))
    }

    /// Receives the answer of one request; returns whether any was in flight.
    fn receive(&mut self) -> Result<bool> {
        let Some(pipeline) = &mut self.pipeline else {
            return Ok(false);
        };
        let received = match self.remote.client().is_given_up(&mut self.looked) {
            true => Err(RemoteError::GivenUp),
            false => pipeline.receive(),
        };
        let answer = match received {
            Err(error) => return Err(self.end(&error)),
            Ok(None) => return Ok(false),
            Ok(Some((_, Err(refused)))) => {
                self.failed.get_or_insert_with(|| to_error(&refused));
                return Ok(true);
            }
            Ok(Some((_, Ok(answer)))) => answer,
        };
        self.cost.requests += 1;
        for outcome in answer.outcomes {
            let row = &outcome.row;
            self.cost.blocks += u64::from(row.blocks);
            self.clock = self.clock.max(row.completion);
            self.begun = Some(self.begun.unwrap_or(row.arrival).min(row.arrival));
            if let Some(error) = &outcome.error {
                let (name, address) = (self.remote.name(), self.remote.client().address());
                self.failed.get_or_insert_with(|| {
                    Error::Request(format!(
                        "export '{name}' of server at '{address}': {} of LBNs {} to {} failed: {error}",
                        row.op.name(),
                        row.lbn,
                        row.lbn + u64::from(row.blocks) - 1
                    ))
                });
            }
            self.pages.write(row.lbn * BLOCK_BYTES, &outcome.data);
        }
        Ok(true)
    }

    /// The command for an extent.
    fn command(&self, op: Op, extent: Extent) -> Command {
        let Extent { lbn, blocks } = extent;
        if op == Op::Read {
            return Command::Read { lbn, blocks };
        }
        let mut data = vec![0; blocks as usize * BLOCK_BYTES as usize];
        self.pages.read(lbn * BLOCK_BYTES, &mut data);
        Command::Write { lbn, data: data.into(), fua: false }
    }
}

impl Medium for RemoteMedium {
    fn device(&self) -> &Device {
        &self.device
    }

    fn pages(&self) -> &Store {
        &self.pages
    }

    fn pages_mut(&mut self) -> &mut Store {
        &mut self.pages
    }

    fn is_simulated(&self) -> bool {
        false
    }

    fn submit(&mut self, op: Op, extents: &[Extent]) -> Result<()> {
        if let Some(why) = &self.ended {
            return Err(Error::Request(format!("the table is unusable: {why}")));
        }
        while self.pipeline.as_ref().is_some_and(Pipeline::is_full) {
            self.receive()?;
        }
        if let Some(failed) = self.failed.take() {
            return Err(failed);
        }
        let commands = extents.iter().map(|&extent| self.command(op, extent));
        let commands = commands.collect();
        let sent = match &mut self.pipeline {
            Some(pipeline) => pipeline.send(commands, false),
            none => match self.remote.pipeline(IN_FLIGHT) {
                Ok(pipeline) => none.insert(pipeline).send(commands, false),
                Err(refused @ RemoteError::Refused { .. }) => return Err(to_error(&refused)),
                Err(error) => Err(error),
            },
        };
        match sent {
            Ok(_) => {
                // The device starts on it before a call waits for it.
                self.pipeline.iter_mut().for_each(Pipeline::flush);
                Ok(())
            }
            Err(error) => Err(self.end(&error)),
        }
    }

    fn wait(&mut self) -> Result<()> {
        while self.receive()? {}
        self.failed.take().map_or(Ok(()), Err)
    }

    fn took(&mut self) -> Cost {
        self.pages.clear();
        let time = self.begun.take().map(|begun| self.clock.since(begun));
        Cost { time: time.unwrap_or_default(), ..std::mem::take(&mut self.cost) }
    }

    fn clock(&self) -> Nanos {
        self.clock.since(self.origin)
    }

    fn restart(&mut self) {
        self.origin = self.clock;
    }

    /// Sleeps for the real time of `time` on the server.
    fn idle(&mut self, time: Nanos) {
        let real_s = time.s() / self.remote.about().speed;
        thread::sleep(Duration::try_from_secs_f64(real_s).unwrap_or_default());
        self.clock = Nanos(self.clock.0.saturating_add(time.0));
    }
}

/// Converts an error of the client to one of the simulator.
fn to_error(error: &RemoteError) -> Error {
    match error {
        RemoteError::GivenUp => Error::Interrupted,
        error => Error::Request(error.to_string()),
    }
}
