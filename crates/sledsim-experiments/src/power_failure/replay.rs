//! The device at an instant of recorded requests.

use super::history::{Epoch, History, Recorded};
use super::{Outcome, fail};
use sledsim_base::error::{Error, Result};
use sledsim_base::request::Op;
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use sledsim_core::catalog::Device;
use sledsim_core::devices::mems::faults::Faults;
use sledsim_core::engine::Engine;
use sledsim_core::model::torn_blocks::TornBlocks;
use sledsim_core::model::{CompletionSink, Model};
use sledsim_core::queueing::schedulers::SchedulerSpec;

/// A device after a power failure: it takes requests from [`Outcome`]'s start-up and
/// recovery on, on a new clock.
pub struct Failed {
    /// Its model.
    pub model: Box<dyn Model>,
    /// The names of its parts.
    pub names: Vec<String>,
    /// The torn blocks.
    pub torn: TornBlocks,
    /// What became of its data.
    pub outcome: Outcome,
}

/// Builds the model of a device that keeps the contents of its media, with the names of
/// its parts.
///
/// # Errors
/// A device that keeps no contents, that promises nothing after a power failure, or whose
/// tips fail.
pub fn build(
    device: &Device,
    scheduler: &SchedulerSpec,
    torn: &TornBlocks,
) -> Result<(Box<dyn Model>, Vec<String>)> {
    if let Some((name, kind)) = device.write_hole() {
        return Err(Error::Key(format!(
            "power cut: the array '{name}' is of kind '{kind}' and keeps no log of the writes under \
             way (the write hole): what it holds after a power failure is not modelled"
        )));
    }
    if (device.mems().and_then(|mems| mems.faults.as_ref())).is_some_and(Faults::may_fail) {
        return Err(Error::Key(format!(
            "power cut: the tips or the media of '{}' fail ([faults]): what both failures leave is \
             not modelled; one of the two is allowed",
            device.name()
        )));
    }
    let (mut model, names) = device.build_on_media(scheduler, torn)?;
    if model.contents().is_none() {
        return Err(Error::Key(format!(
            "power cut: the device '{}' of kind '{}' keeps no contents: what it holds after a power \
             failure is not modelled",
            device.name(),
            device.kind()
        )));
    }
    Ok((model, names))
}

/// Replays recorded requests on a new device up to `at`, with the power failures
/// recorded before it; there power fails, and the device recovers.
pub fn replay(
    device: &Device,
    scheduler: &SchedulerSpec,
    history: &History,
    at: Nanos,
) -> Result<Failed> {
    let torn = TornBlocks::default();
    let (mut model, names) = build(device, scheduler, &torn)?;
    for (index, epoch) in history.epochs.iter().enumerate() {
        let here = epoch.cut.is_none_or(|cut| at <= cut);
        if at < epoch.zero {
            return Err(Error::argument(
                "at",
                format!("power cut at {at}: the device was off until {}", epoch.zero),
            ));
        }
        let until = if here { at } else { epoch.cut.unwrap_or(at) };
        let epoch = run(&mut *model, epoch, until);
        let parts = (&history.epochs[..index], &epoch);
        let outcome = fail(device, &mut *model, &torn, parts, until);
        if here {
            return Ok(Failed { model, names, torn, outcome });
        }
    }
    Err(Error::argument("at", format!("power cut at {at}: the recording has no requests")))
}

/// Collects completions.
struct Completions<'a> {
    epoch: &'a mut Epoch,
    zero: Nanos,
}

impl CompletionSink for Completions<'_> {
    fn done(&mut self, row: &Row) {
        self.epoch.complete(row.id, row.completion + self.zero);
    }

    fn note(&mut self, _row: &Row) {}
}

/// Submits the requests that arrive by `until`, and runs the model up to then. Returns
/// them with their completions.
fn run(model: &mut dyn Model, epoch: &Epoch, until: Nanos) -> Epoch {
    let zero = epoch.zero;
    let arrived = |request: &&Recorded| request.arrival <= until;
    let mut replayed =
        Epoch { requests: epoch.requests.iter().take_while(arrived).copied().collect(), ..*epoch };
    let mut engine = Engine::new(model);
    for index in 0..replayed.requests.len() {
        let recorded = replayed.requests[index];
        let mut sink = Completions { epoch: &mut replayed, zero };
        let arrival = recorded.arrival.since(zero);
        engine.wake_before(arrival, &mut sink);
        if recorded.op == Op::Write
            && let Some(contents) = engine.model.contents()
        {
            contents.stage_write(&recorded.tokens());
        }
        engine.submit(recorded.request(zero), &mut sink);
    }
    let mut sink = Completions { epoch: &mut replayed, zero };
    engine.wake_before(until.since(zero), &mut sink);
    replayed
}
