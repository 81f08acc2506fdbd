//! The calls of one connection.

use super::permits::SharedPermits;
use super::session::{Session, answered, failure, interface, row};
use super::streamed::{self, Streamed};
use crate::v1;
use crate::v1::mem_store_server::MemStore;
use serde_json::json;
use sledsim_base::error::Error;
use sledsim_base::row::Row;
use sledsim_base::units::{BLOCK_BYTES, Nanos};
use sledsim_core::layouts::ResolvedLayout;
use sledsim_core::model::links::Links;
use sledsim_emulator::command::{Command, CommandKind};
use sledsim_emulator::export::{BatchReply, CommandResult, Export};
use sledsim_emulator::timeline::{Answer, Reply};
use tokio::sync::oneshot;
use tonic::{Request, Response, Status, Streaming};

/// Why a request under way is not answered.
fn unanswered() -> Status {
    Status::unavailable("is not answered: power has failed, or the server is stopping")
}

fn invalid(error: Error) -> Status {
    Status::invalid_argument(error.to_string())
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
        let exports = self.server.exports.iter();
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
        let layout = about.device.layout().map(ResolvedLayout::name);
        Ok(Response::new(v1::DescribeResponse {
            export: Some(described(export)),
            device_toml: about.device.to_toml(),
            device_json: json!(about.device.show()).to_string(),
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
        let values = interface(export)?.parallel().parameters(export.timeline().now());
        let [s_t, s_c] = values.sizes();
        Ok(Response::new(v1::GetParallelismResponse {
            p: values.p,
            squares: values.n,
            s_x: values.s_x,
            s_y: values.s_y,
            m: values.m,
            n_x: values.n_x,
            n_y: values.n_y,
            s_t,
            s_c,
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
            Command { what: CommandKind::Flush, offset: 0, fua: false, stream: self.stream };
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
