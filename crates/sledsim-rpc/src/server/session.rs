//! What the calls of a connection share: its batches and their answers.

use super::limiter::{Limiter, Permit};
use super::state::ServerState;
use crate::v1;
use sledsim_base::request::Extent;
use sledsim_base::row::Row;
use sledsim_base::units::BLOCK_BYTES;
use sledsim_core::model::links;
use sledsim_core::model::links::Links;
use sledsim_emulator::command::{Command, CommandKind};
use sledsim_emulator::errno::Errno;
use sledsim_emulator::export::{BatchReply, CommandResult, Export, Refusal};
use sledsim_emulator::parallel_interface::Interface;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use tonic::Status;

/// The most characters of a name from a client in an error.
const NAME_SHOWN: usize = 200;

/// Serves the calls of one connection.
#[derive(Clone)]
pub(super) struct Session {
    pub(super) server: Arc<ServerState>,
    /// Stream number of its batches.
    pub(super) stream: u32,
    pub(super) limiter: Limiter,
    /// Number of `Batches` calls in progress.
    pub(super) streams: Arc<AtomicUsize>,
}

impl Session {
    pub(super) fn new(server: &Arc<ServerState>) -> Self {
        Self {
            server: Arc::clone(server),
            stream: server.exports.new_stream(),
            limiter: Limiter::new(server),
            streams: Arc::default(),
        }
    }

    /// Refuses new work once the server stops.
    pub(super) fn check_running(&self) -> Result<(), Status> {
        match *self.server.stop.borrow() {
            None => Ok(()),
            Some(_) => Err(stopping()),
        }
    }

    pub(super) fn export(&self, name: &str) -> Result<&Arc<Export>, Status> {
        let exports = &self.server.exports;
        exports.named(name).ok_or_else(|| {
            let names: Vec<_> = exports.iter().map(|export| export.name()).collect();
            let name: String = name.chars().take(NAME_SHOWN).collect();
            Status::not_found(format!(
                "export = '{name}': there is none of that name; exports are {}",
                names.join(", ")
            ))
        })
    }

    /// Takes the permits of `bytes` bytes, if available.
    pub(super) fn take(&self, bytes: usize) -> Result<Permit, Status> {
        self.limiter.try_take(bytes).ok_or_else(|| {
            let settings = &self.server.settings.net;
            Status::resource_exhausted(format!(
                "too much is under way: at most {} batches and {} bytes of a connection are \
                 allowed, and less while other clients do not read their answers; wait for an \
                 answer, or use Batches, which waits",
                settings.max_outstanding, settings.max_outstanding_bytes
            ))
        })
    }

    /// Submits a batch; `reply` is sent when it is complete.
    pub(super) fn begin(
        &self,
        batch: &v1::BatchRequest,
        reply: Box<dyn BatchReply>,
    ) -> Result<(), Status> {
        self.check_running()?;
        let export = self.export(&batch.export)?;
        let commands = commands(batch, self.stream)?;
        if batch.must_be_parallel {
            must_be_parallel(export, &commands)?;
        }
        export.submit_batch(&commands, reply).map_err(refused)
    }

    /// Number of data bytes of a batch; refuses too many.
    pub(super) fn bytes(&self, batch: &v1::BatchRequest) -> Result<usize, Status> {
        let most = self.server.settings.max_batch_bytes;
        let bytes: u128 = (batch.commands.iter())
            .map(|command| match &command.what {
                Some(v1::command::What::Read(read)) => u128::from(read.blocks) * 512,
                Some(v1::command::What::Write(write)) => write.data.len() as u128,
                None => 0,
            })
            .sum();
        usize::try_from(bytes).ok().filter(|bytes| *bytes <= most).ok_or_else(|| {
            Status::resource_exhausted(format!(
                "commands: write and read {bytes} bytes in all: a batch may have at most {most}"
            ))
        })
    }
}

pub(super) fn stopping() -> Status {
    Status::unavailable("the server is stopping: nothing is begun any more")
}

fn refused(refusal: Refusal) -> Status {
    let code = match &refusal {
        Refusal::Invalid(_) => tonic::Code::InvalidArgument,
        Refusal::ReadOnly(_) => tonic::Code::PermissionDenied,
        Refusal::NoBatches(_) => tonic::Code::FailedPrecondition,
        Refusal::NoPower(_) => tonic::Code::Unavailable,
        Refusal::NotKept(_) => tonic::Code::ResourceExhausted,
    };
    Status::new(code, refusal.to_string())
}

/// Converts the commands of a batch to those of an export.
fn commands(batch: &v1::BatchRequest, stream: u32) -> Result<Vec<Command<'_>>, Status> {
    let commands = batch.commands.iter().enumerate();
    commands
        .map(|(index, command)| {
            let refuse = |field: &str, problem: String| {
                Status::invalid_argument(format!("commands[{index}].{field}{problem}"))
            };
            let (what, fua) = match &command.what {
                Some(v1::command::What::Read(read)) if read.blocks == 0 => {
                    return Err(refuse("read.blocks", " = 0: must be at least 1".into()));
                }
                Some(v1::command::What::Read(read)) => {
                    (CommandKind::Read(u64::from(read.blocks) * BLOCK_BYTES), false)
                }
                Some(v1::command::What::Write(write)) => {
                    let bytes = write.data.len() as u64;
                    if bytes == 0 || !bytes.is_multiple_of(BLOCK_BYTES) {
                        let problem = format!(
                            ": {bytes} bytes: must be whole blocks of {BLOCK_BYTES} bytes, one at \
                             least"
                        );
                        return Err(refuse("write.data", problem));
                    }
                    (CommandKind::Write(&write.data), write.fua)
                }
                None => return Err(refuse("what", ": missing: must be read or write".into())),
            };
            let lbn = command.lbn;
            let offset = lbn.checked_mul(BLOCK_BYTES).ok_or_else(|| {
                let problem = format!(" = {lbn}: must be a block of the export");
                refuse("lbn", problem)
            })?;
            Ok(Command { what, offset, fua, stream })
        })
        .collect()
}

/// Refuses a batch that takes more than one pass. Other errors are reported by the
/// export.
fn must_be_parallel(export: &Export, commands: &[Command<'_>]) -> Result<(), Status> {
    let interface = interface(export)?;
    if export.timeline().links() != Links::Served && commands.len() > 1 {
        return Err(Status::failed_precondition(format!(
            "must_be_parallel: export '{}' does not serve batches as such: its device must be a \
             single sled with [batching] kind = \"explicit\"",
            export.name()
        )));
    }
    let mut extents = Vec::with_capacity(commands.len());
    for command in commands {
        if !export.contains(command.offset, command.bytes()) {
            return Ok(());
        }
        extents.push(Extent {
            lbn: command.offset / BLOCK_BYTES,
            blocks: (command.bytes() / BLOCK_BYTES) as u32,
        });
    }
    if links::overlapping(&extents).is_some() {
        return Ok(());
    }
    let now = export.timeline().now();
    interface
        .must_be_parallel(&extents, now)
        .map_err(|error| Status::failed_precondition(format!("must_be_parallel: {error}")))
}

/// The parallel interface of an export, if it is a single sled.
pub(super) fn interface(export: &Export) -> Result<Interface<'_>, Status> {
    let device = &export.about().device;
    Interface::of(device).ok_or_else(|| {
        Status::failed_precondition(format!(
            "export '{}' has no sled of its own: its device '{}' is of kind '{}'; must be of kind \
             'mems'",
            export.name(),
            device.name(),
            device.kind()
        ))
    })
}

pub(super) fn row(row: &Row) -> v1::Row {
    let parts = &row.parts;
    macro_rules! row {
        ($($(#[$doc:meta])* $name:ident $column:ident $kind:ident;)*) => {
            v1::Row {
                id: row.id,
                arrival_ns: row.arrival.0,
                start_ns: row.start.0,
                completion_ns: row.completion.0,
                queue_depth: row.queue_depth,
                passes: row.passes,
                retries: row.retries,
                energy_nj: row.energy_nj(),
                stream: row.stream,
                $($column: parts.$name.0,)*
            }
        };
    }
    sledsim_base::with_parts!(row)
}

pub(super) fn failure(error: Errno) -> String {
    std::io::Error::from(error).to_string()
}

/// Converts the results of a batch to its answer.
pub(super) fn answered(tag: u64, done: Vec<CommandResult>) -> v1::BatchResponse {
    let result = |done: CommandResult| {
        let (status, data, error) = match done.answer {
            Ok(data) => (v1::Status::Ok, data.into(), String::new()),
            Err(error) => (v1::Status::Error, bytes::Bytes::new(), failure(error)),
        };
        v1::Result {
            status: status.into(),
            data,
            error,
            row: Some(row(&done.row)),
            lateness_ns: done.lateness.0,
        }
    };
    v1::BatchResponse { tag, results: done.into_iter().map(result).collect(), refused: None }
}
