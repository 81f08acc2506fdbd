//! A simulated device: its model serves one request after the other.

use super::medium::{Cost, Medium};
use super::store::Store;
use sledsim_base::error::{Error, Result};
use sledsim_base::request::{Extent, Flags, Op, Request};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use sledsim_core::catalog::Device;
use sledsim_core::engine::Engine;
use sledsim_core::model::links::Links;
use sledsim_core::model::{CompletionSink, Model};
use sledsim_core::queueing::schedulers::SchedulerSpec;

/// A device's model, its clock, and its bytes.
pub struct Drive {
    device: Device,
    engine: Engine<Box<dyn Model>>,
    store: Store,
    /// When the last request was complete, or until when the device idled.
    clock: Nanos,
    /// When the clock began.
    origin: Nanos,
    next_id: u64,
    cost: Cost,
}

/// The completion time of the only outstanding request.
#[derive(Default)]
struct CompletionTime(Option<Nanos>);

impl CompletionSink for CompletionTime {
    fn done(&mut self, row: &Row) {
        self.0 = Some(row.completion);
    }

    fn note(&mut self, _: &Row) {}
}

impl Drive {
    /// A host of `device` at time zero.
    ///
    /// # Errors
    /// [`Error::Key`] for anything but a single plain sled.
    pub fn new(device: &Device) -> Result<Self> {
        let (model, _) = device.build_with(&SchedulerSpec::default())?;
        if model.links() == Links::Refused || device.layout().is_some() {
            return Err(Error::Key(format!(
                "device '{}': a table must be on a single sled (kind \"mems\"), without a layout, a \
                 buffer or background tasks",
                device.name()
            )));
        }
        Ok(Self {
            device: device.clone(),
            engine: Engine::new(model),
            store: Store::default(),
            clock: Nanos::ZERO,
            origin: Nanos::ZERO,
            next_id: 0,
            cost: Cost::default(),
        })
    }
}

impl Medium for Drive {
    fn device(&self) -> &Device {
        &self.device
    }

    fn pages(&self) -> &Store {
        &self.store
    }

    fn pages_mut(&mut self) -> &mut Store {
        &mut self.store
    }

    fn is_simulated(&self) -> bool {
        true
    }

    /// Serves the request to its end.
    fn submit(&mut self, op: Op, extents: &[Extent]) -> Result<()> {
        let request = Request {
            id: self.next_id,
            arrival: self.clock,
            op,
            flags: Flags::GATHERED.when(extents.len() > 1),
            extents: extents.into(),
            ..Request::default()
        };
        let blocks = u64::from(request.blocks());
        let mut done = CompletionTime::default();
        self.engine.submit(request, &mut done);
        let completion = loop {
            if let Some(completion) = done.0 {
                break completion;
            }
            let next = self.engine.next_event(Nanos::MAX, Nanos::MAX);
            assert_ne!(next, Nanos::MAX, "a device completes its requests");
            self.engine.wake(next, &mut done);
        };
        self.cost.time += completion.since(self.clock);
        self.cost.blocks += blocks;
        self.cost.requests += 1;
        self.clock = self.clock.max(completion);
        self.next_id += 1;
        Ok(())
    }

    fn wait(&mut self) -> Result<()> {
        Ok(())
    }

    fn took(&mut self) -> Cost {
        std::mem::take(&mut self.cost)
    }

    fn clock(&self) -> Nanos {
        self.clock.since(self.origin)
    }

    fn restart(&mut self) {
        self.origin = self.clock;
    }

    fn idle(&mut self, time: Nanos) {
        self.clock = Nanos(self.clock.0.saturating_add(time.0));
    }
}
