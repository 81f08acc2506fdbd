//! The calls of one connection.

use super::limiter::{InFlightLimiter, Permits};
use super::permits::SharedPermits;
use super::state::ServerState;
use super::streamed::{self, Streamed};
use crate::v1;
use crate::v1::mem_store_server::MemStore;
use sledsim_base::error::Error;
use sledsim_base::request::Extent;
use sledsim_base::row::Row;
use sledsim_base::units::{BLOCK_BYTES, Nanos};
use sledsim_core::layouts::ResolvedLayout;
use sledsim_core::model::links;
use sledsim_core::model::links::Links;
use sledsim_emulator::command::{Command, CommandKind};
use sledsim_emulator::errno::Errno;
use sledsim_emulator::export::{BatchReply, CommandResult, Export, Refusal};
use sledsim_emulator::parallel_interface::Interface;
use sledsim_emulator::timeline::{Answer, Reply};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use tokio::sync::{oneshot, watch};
use tonic::{Request, Response, Status, Streaming};

/// The most characters of a name from a client in an error.
const NAME_SHOWN: usize = 200;

/// Serves the calls of one connection.
#[derive(Clone)]
pub(super) struct Session(Arc<Inner>);

struct Inner {
    shared: Arc<ServerState>,
    /// Stream number of its batches.
    stream: u32,
    limiter: InFlightLimiter,
    /// Number of `Batches` calls in progress.
    streams: Arc<AtomicUsize>,
}

impl Session {
    pub(super) fn new(shared: &Arc<ServerState>) -> Self {
        Self(Arc::new(Inner {
            shared: Arc::clone(shared),
            stream: shared.exports.new_stream(),
            limiter: InFlightLimiter::new(&shared.settings, &shared.room),
            streams: Arc::default(),
        }))
    }

    pub(super) fn limiter(&self) -> InFlightLimiter {
        self.0.limiter.clone()
    }

    pub(super) fn streams(&self) -> &Arc<AtomicUsize> {
        &self.0.streams
    }

    pub(super) fn stopping(&self) -> watch::Receiver<Option<std::time::Instant>> {
        self.0.shared.stop.subscribe()
    }

    /// Refuses new work once the server stops.
    fn check_running(&self) -> Result<(), Status> {
        match *self.0.shared.stop.borrow() {
            None => Ok(()),
            Some(_) => Err(stopping()),
        }
    }

    fn export(&self, name: &str) -> Result<&Arc<Export>, Status> {
        let exports = &self.0.shared.exports;
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
    fn take(&self, bytes: usize) -> Result<Permits, Status> {
        self.0.limiter.try_take(bytes).ok_or_else(|| {
            let settings = &self.0.shared.settings;
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
        let commands = commands(batch, self.0.stream)?;
        if batch.must_be_parallel {
            must_be_parallel(export, &commands)?;
        }
        export.submit_batch(&commands, reply).map_err(refused)
    }

    /// Number of data bytes of a batch; refuses too many.
    pub(super) fn bytes(&self, batch: &v1::BatchRequest) -> Result<usize, Status> {
        let most = self.0.shared.settings.max_batch_bytes;
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

/// Why a request under way is not answered.
pub(super) fn unanswered() -> Status {
    Status::unavailable("is not answered: power has failed, or the server is stopping")
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

fn invalid(error: Error) -> Status {
    Status::invalid_argument(error.to_string())
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
fn interface(export: &Export) -> Result<Interface<'_>, Status> {
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

fn at(export: &Export, at_ns: Option<u64>) -> Nanos {
    at_ns.map_or_else(|| export.timeline().now(), Nanos)
}

fn described(export: &Export) -> v1::Export {
    let about = export.about();
    v1::Export {
        name: about.name.clone(),
        blocks: export.bytes() / BLOCK_BYTES,
        block_bytes: BLOCK_BYTES as u32,
        read_only: about.read_only,
        device: about.device.name().to_owned(),
        kind: about.device.kind().to_owned(),
    }
}

fn row(row: &Row) -> v1::Row {
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

fn failure(error: Errno) -> String {
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

/// Sends the results of a batch to the call that waits for them.
struct SendBatch(oneshot::Sender<Vec<CommandResult>>);

impl BatchReply for SendBatch {
    fn send(self: Box<Self>, done: Vec<CommandResult>) {
        // The call may have been cancelled.
        let _ = self.0.send(done);
    }
}

/// Sends the answer to a single request.
struct SendOne(oneshot::Sender<(Row, Nanos, Answer)>);

impl Reply for SendOne {
    fn send(self: Box<Self>, answer: Answer) {
        self.tell(&Row::default(), Nanos::ZERO, answer);
    }

    fn tell(self: Box<Self>, row: &Row, lateness: Nanos, answer: Answer) {
        let _ = self.0.send((*row, lateness, answer));
    }
}

#[tonic::async_trait]
impl MemStore for Session {
    async fn list_exports(
        &self,
        _request: Request<v1::ListExportsRequest>,
    ) -> Result<Response<v1::ListExportsResponse>, Status> {
        let exports = self.0.shared.exports.iter();
        Ok(Response::new(v1::ListExportsResponse {
            sledsim: env!("CARGO_PKG_VERSION").to_owned(),
            exports: exports.map(|export| described(export)).collect(),
        }))
    }

    async fn describe(
        &self,
        request: Request<v1::DescribeRequest>,
    ) -> Result<Response<v1::DescribeResponse>, Status> {
        let export = self.export(&request.get_ref().export)?;
        let (about, timeline) = (export.about(), export.timeline());
        let batching = match timeline.links() {
            Links::Served => v1::Batching::Served,
            Links::Ignored => v1::Batching::Ignored,
            Links::Refused => v1::Batching::Refused,
        };
        let layout = about.device.layout().map(ResolvedLayout::to_json);
        let layout = layout.as_ref().and_then(|facts| facts["name"].as_str());
        Ok(Response::new(v1::DescribeResponse {
            export: Some(described(export)),
            device_toml: about.device.to_toml(),
            device_json: about.device.show().to_string(),
            scheduler: about.scheduler.label().to_owned(),
            layout: layout.unwrap_or_default().to_owned(),
            speed: about.speed,
            now_ns: timeline.now().0,
            batching: batching.into(),
        }))
    }

    async fn get_parallelism(
        &self,
        request: Request<v1::GetParallelismRequest>,
    ) -> Result<Response<v1::GetParallelismResponse>, Status> {
        let export = self.export(&request.get_ref().export)?;
        let values = interface(export)?.values(export.timeline().now());
        Ok(Response::new(v1::GetParallelismResponse {
            p: values.p,
            squares: values.n,
            s_x: values.s_x,
            s_y: values.s_y,
            m: values.m,
            n_x: values.n_x,
            n_y: values.n_y,
            s_t: values.s_t,
            s_c: values.s_c,
        }))
    }

    async fn get_equivalent(
        &self,
        request: Request<v1::GetEquivalentRequest>,
    ) -> Result<Response<v1::GetEquivalentResponse>, Status> {
        let request = request.into_inner();
        let export = self.export(&request.export)?;
        let at = at(export, request.at_ns);
        let lbns = interface(export)?.equivalent(request.lbn, at);
        Ok(Response::new(v1::GetEquivalentResponse { lbns: lbns.map_err(invalid)? }))
    }

    async fn check_conflicting(
        &self,
        request: Request<v1::CheckConflictingRequest>,
    ) -> Result<Response<v1::CheckConflictingResponse>, Status> {
        let request = request.into_inner();
        let export = self.export(&request.export)?;
        let at = at(export, request.at_ns);
        let conflicting = interface(export)?.conflicting(request.a, request.b, at);
        Ok(Response::new(v1::CheckConflictingResponse {
            conflicting: conflicting.map_err(invalid)?,
        }))
    }

    async fn get_boundaries(
        &self,
        request: Request<v1::GetBoundariesRequest>,
    ) -> Result<Response<v1::GetBoundariesResponse>, Status> {
        let request = request.into_inner();
        let export = self.export(&request.export)?;
        let boundaries = interface(export)?.boundaries(request.lbn);
        let (first, last) = boundaries.map_err(invalid)?;
        Ok(Response::new(v1::GetBoundariesResponse { first, last }))
    }

    async fn batch(
        &self,
        request: Request<v1::BatchRequest>,
    ) -> Result<Response<v1::BatchResponse>, Status> {
        let batch = request.into_inner();
        let taken = self.take(self.bytes(&batch)?)?;
        let (sender, answer) = oneshot::channel();
        self.begin(&batch, Box::new(SendBatch(sender)))?;
        let tag = batch.tag;
        drop(batch);
        // The sender is dropped when the clock of the device stops.
        let done = answer.await.map_err(|_| unanswered())?;
        let mut response = Response::new(answered(tag, done));
        response.extensions_mut().insert(SharedPermits::new(taken));
        Ok(response)
    }

    type BatchesStream = Streamed;

    async fn batches(
        &self,
        request: Request<Streaming<v1::BatchRequest>>,
    ) -> Result<Response<Streamed>, Status> {
        Ok(Response::new(streamed::start(self, request.into_inner())?))
    }

    async fn flush(
        &self,
        request: Request<v1::FlushRequest>,
    ) -> Result<Response<v1::FlushResponse>, Status> {
        self.check_running()?;
        let taken = self.take(0)?;
        let export = self.export(&request.get_ref().export)?;
        let (sender, answer) = oneshot::channel();
        let command =
            Command { what: CommandKind::Flush, offset: 0, fua: false, stream: self.0.stream };
        export.submit(command, Box::new(SendOne(sender)));
        let (done, lateness, answer) = answer.await.map_err(|_| unanswered())?;
        answer.map_err(|error| {
            let name = export.name();
            if !export.is_on() {
                return Status::unavailable(format!("export '{name}': power is off"));
            }
            let why = failure(error);
            Status::data_loss(format!("export '{name}' could not be flushed: {why}"))
        })?;
        let mut response =
            Response::new(v1::FlushResponse { row: Some(row(&done)), lateness_ns: lateness.0 });
        response.extensions_mut().insert(SharedPermits::new(taken));
        Ok(response)
    }

    async fn set_power(
        &self,
        request: Request<v1::SetPowerRequest>,
    ) -> Result<Response<v1::SetPowerResponse>, Status> {
        self.check_running()?;
        let v1::SetPowerRequest { export, on } = request.into_inner();
        let export = self.export(&export)?;
        let power = export.power().ok_or_else(|| {
            let name = export.name();
            Status::failed_precondition(format!("export '{name}': was started without a power cut"))
        })?;
        let done = if on { power.on() } else { power.cut() };
        let done = done.map_err(|error| Status::failed_precondition(error.to_string()))?;
        let number = |key: &str| done[key].as_u64().unwrap_or_default();
        Ok(Response::new(v1::SetPowerResponse {
            at_ns: number("at_ns"),
            startup_ns: number("startup_ns"),
            recovery_ns: number("recovery_ns"),
            ledger: (!on).then(|| v1::Ledger {
                writes: number("writes"),
                acknowledged: number("acknowledged"),
                acknowledged_unflushed: number("acknowledged_unflushed"),
                lost: number("lost"),
                promised_lost: number("promised_lost"),
                promised_torn: number("promised_torn"),
                torn: number("torn"),
                unreadable: number("unreadable"),
            }),
        }))
    }
}
