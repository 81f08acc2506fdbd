//! One export of a server.

use super::{Client, Error, Result};
use crate::v1;
use bytes::Bytes;
use sledsim_base::request::Op;
use sledsim_base::row::{Parts, Row, Status, UNKNOWN_ENERGY};
use sledsim_base::units::{BLOCK_BYTES, Nanos};
use sledsim_core::catalog::Device;

/// A read or a write of whole blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Reads blocks.
    Read {
        /// First block.
        lbn: u64,
        /// Number of blocks.
        blocks: u32,
    },
    /// Writes blocks.
    Write {
        /// First block.
        lbn: u64,
        /// Whole blocks of 512 bytes.
        data: Bytes,
        /// Whether it must survive a crash before the answer.
        fua: bool,
    },
}

impl Command {
    /// First block.
    pub fn lbn(&self) -> u64 {
        match *self {
            Self::Read { lbn, .. } | Self::Write { lbn, .. } => lbn,
        }
    }

    /// Number of blocks.
    pub fn blocks(&self) -> u32 {
        match self {
            Self::Read { blocks, .. } => *blocks,
            Self::Write { data, .. } => (data.len() as u64 / BLOCK_BYTES) as u32,
        }
    }

    fn op(&self) -> Op {
        match self {
            Self::Read { .. } => Op::Read,
            Self::Write { .. } => Op::Write,
        }
    }
}

/// The result of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The data of a read; empty for a write.
    pub data: Bytes,
    /// Its row, in model time.
    pub row: Row,
    /// Time from its completion to its answer, in model time.
    pub lateness: Nanos,
    /// The error if the device or its store could not serve it; the row has the status.
    pub error: Option<String>,
}

/// The result of a batch: one outcome for each command, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The outcomes.
    pub outcomes: Vec<Outcome>,
}

impl Answer {
    /// Completion of the last command, in model time.
    pub fn completion(&self) -> Nanos {
        let completions = self.outcomes.iter().map(|outcome| outcome.row.completion);
        completions.max().unwrap_or_default()
    }

    /// The first command that failed, with its error.
    pub fn failure(&self) -> Option<(usize, &str)> {
        let mut outcomes = self.outcomes.iter().enumerate();
        outcomes.find_map(|(index, outcome)| Some((index, outcome.error.as_deref()?)))
    }
}

/// An export of a server.
#[derive(Clone)]
pub struct Remote {
    client: Client,
    about: v1::DescribeResponse,
    export: v1::Export,
}

impl Remote {
    pub(super) fn open(client: &Client, name: &str) -> Result<Self> {
        let export = name.to_owned();
        let request = v1::DescribeRequest { export };
        let about = client.call(async |mut store| store.describe(request).await)?;
        let Some(export) = about.export.clone() else {
            return Err(nonsense(client, "described an export without saying which"));
        };
        Ok(Self { client: client.clone(), about, export })
    }

    /// Its connection.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.export.name
    }

    /// Number of blocks of 512 bytes.
    pub fn blocks(&self) -> u64 {
        self.export.blocks
    }

    /// Whether writes are refused.
    pub fn is_read_only(&self) -> bool {
        self.export.read_only
    }

    /// The server's description of it, as of opening it.
    pub fn about(&self) -> &v1::DescribeResponse {
        &self.about
    }

    /// The device, for queries on this side; its blocks are those of the export unless
    /// there is a layout ([`v1::DescribeResponse::layout`]).
    ///
    /// # Errors
    /// [`Error::Protocol`] if the server cannot send a self-contained specification, or
    /// if this version does not understand it.
    pub fn device(&self) -> Result<Device> {
        let text = &self.about.device_toml;
        if text.is_empty() {
            let why = "has a device that is based on files of its own, and cannot send it";
            return Err(nonsense(&self.client, why));
        }
        Device::from_toml(&self.export.device, text).map_err(|error| {
            let why = format!("has a device that is not understood here: {error}");
            nonsense(&self.client, &why)
        })
    }

    /// The parameters of parallel access.
    ///
    /// # Errors
    /// [`Error::Refused`] if it is not a single sled.
    pub fn parallelism(&self) -> Result<v1::GetParallelismResponse> {
        let export = self.export.name.clone();
        let request = v1::GetParallelismRequest { export };
        self.client.call(async |mut store| store.get_parallelism(request).await)
    }

    /// The equivalence class of `lbn` at a model time, or now.
    ///
    /// # Errors
    /// [`Error::Refused`] if it is not a single sled, or has no such block.
    pub fn equivalent(&self, lbn: u64, at: Option<Nanos>) -> Result<Vec<u64>> {
        let request = v1::GetEquivalentRequest {
            export: self.export.name.clone(),
            lbn,
            at_ns: at.map(|at| at.0),
        };
        let class = (self.client).call(async |mut store| store.get_equivalent(request).await);
        Ok(class?.lbns)
    }

    /// Whether two blocks cannot be accessed together at a model time, or now.
    ///
    /// # Errors
    /// [`Error::Refused`] if it is not a single sled, or has no such block.
    pub fn conflicting(&self, a: u64, b: u64, at: Option<Nanos>) -> Result<bool> {
        let request = v1::CheckConflictingRequest {
            export: self.export.name.clone(),
            a,
            b,
            at_ns: at.map(|at| at.0),
        };
        let answer = (self.client).call(async |mut store| store.check_conflicting(request).await);
        Ok(answer?.conflicting)
    }

    /// First and last block of the track of `lbn`.
    ///
    /// # Errors
    /// [`Error::Refused`] if it is not a single sled, or has no such block.
    pub fn boundaries(&self, lbn: u64) -> Result<(u64, u64)> {
        let request = v1::GetBoundariesRequest { export: self.export.name.clone(), lbn };
        let answer = (self.client).call(async |mut store| store.get_boundaries(request).await);
        let answer = answer?;
        Ok((answer.first, answer.last))
    }

    /// Serves commands as one batch and waits until the last is complete. With
    /// `must_be_parallel` the batch is refused unless one pass accesses all blocks.
    ///
    /// # Errors
    /// [`Error::Refused`] if it was refused: nothing was done. A command that the
    /// device or its store failed to serve is no error here; see [`Answer::failure`].
    pub fn batch(&self, commands: &[Command], must_be_parallel: bool) -> Result<Answer> {
        let request = self.request(commands, must_be_parallel, 0);
        let answer = (self.client).call(async |mut store| store.batch(request).await)?;
        self.answer(answer, commands)
    }

    /// Makes completed writes durable.
    ///
    /// # Errors
    /// [`Error::Refused`] if that failed.
    pub fn flush(&self) -> Result<()> {
        let export = self.export.name.clone();
        let request = v1::FlushRequest { export };
        (self.client).call(async |mut store| store.flush(request).await)?;
        Ok(())
    }

    /// Lets power fail or return; the server's answer.
    ///
    /// # Errors
    /// Power that is so already, or an export without power cuts.
    pub fn set_power(&self, on: bool) -> Result<v1::SetPowerResponse> {
        let export = self.export.name.clone();
        let request = v1::SetPowerRequest { export, on };
        let response = (self.client).call(async |mut store| store.set_power(request).await)?;
        Ok(response)
    }

    /// The message for a batch.
    pub(super) fn request(
        &self,
        commands: &[Command],
        must_be_parallel: bool,
        tag: u64,
    ) -> v1::BatchRequest {
        let message = |command: &Command| {
            let (lbn, what) = match command {
                Command::Read { lbn, blocks } => {
                    (lbn, v1::command::What::Read(v1::Read { blocks: *blocks }))
                }
                Command::Write { lbn, data, fua } => {
                    let (data, fua) = (data.clone(), *fua);
                    (lbn, v1::command::What::Write(v1::Write { data, fua }))
                }
            };
            v1::Command { lbn: *lbn, what: Some(what) }
        };
        v1::BatchRequest {
            export: self.export.name.clone(),
            commands: commands.iter().map(message).collect(),
            must_be_parallel,
            tag,
        }
    }

    /// Converts the answer to a batch.
    pub(super) fn answer(&self, answer: v1::BatchResponse, commands: &[Command]) -> Result<Answer> {
        if answer.results.len() != commands.len() {
            let (results, commands) = (answer.results.len(), commands.len());
            let why = format!("sent {results} results for {commands} commands");
            return Err(nonsense(&self.client, &why));
        }
        let outcomes = answer.results.into_iter().zip(commands);
        let outcomes = outcomes.map(|(result, command)| self.outcome(result, command));
        Ok(Answer { outcomes: outcomes.collect::<Result<_>>()? })
    }

    fn outcome(&self, result: v1::Result, command: &Command) -> Result<Outcome> {
        let is_ok = result.status() == v1::Status::Ok;
        let wanted = match command {
            Command::Read { blocks, .. } if is_ok => u64::from(*blocks) * BLOCK_BYTES,
            _ => 0,
        };
        if result.data.len() as u64 != wanted {
            let (bytes, lbn) = (result.data.len(), command.lbn());
            let why = format!("sent {bytes} bytes for LBN {lbn}, not {wanted}");
            return Err(nonsense(&self.client, &why));
        }
        let Some(row) = result.row else {
            return Err(nonsense(&self.client, "sent a result without its times"));
        };
        let status = if is_ok { Status::Ok } else { Status::Error };
        Ok(Outcome {
            data: result.data,
            row: Row {
                op: command.op(),
                lbn: command.lbn(),
                blocks: command.blocks(),
                status,
                ..times(&row)
            },
            lateness: Nanos(result.lateness_ns),
            error: (!is_ok).then_some(result.error),
        })
    }
}

/// Converts a row of the interface to one of the simulator.
fn times(row: &v1::Row) -> Row {
    macro_rules! parts {
        ($($(#[$doc:meta])* $name:ident $column:ident $kind:ident;)*) => {
            Parts { $($name: Nanos(row.$column),)* }
        };
    }
    Row {
        id: row.id,
        stream: row.stream,
        arrival: Nanos(row.arrival_ns),
        start: Nanos(row.start_ns),
        completion: Nanos(row.completion_ns),
        queue_depth: row.queue_depth,
        passes: row.passes,
        retries: row.retries,
        energy_nj: row.energy_nj.unwrap_or(UNKNOWN_ENERGY),
        parts: sledsim_base::with_parts!(parts),
        ..Row::default()
    }
}

pub(super) fn nonsense(client: &Client, why: &str) -> Error {
    Error::Protocol(format!("server at '{}' {why}", client.address()))
}
