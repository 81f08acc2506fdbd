//! The keys of a replayed trace.

use super::mapping::Address;
use crate::formats;
use sledsim_base::error::Result;
use sledsim_base::keys::{Keys, Range};
use sledsim_base::progress::Progress;
use sledsim_core::workloads::ClosedSpec;
use sledsim_traces::objects::Objects;
use sledsim_traces::order::LONGEST_SORT_MS;
use sledsim_traces::records::DeviceSelection;
use sledsim_traces::{BlkAction, Format, GivenUnits, Options, Record, Supply};
use std::path::Path;

/// The keys of a replayed trace.
#[derive(Clone, Debug)]
pub struct TraceSpec {
    pub(super) supply: Supply,
    pub(super) format: Option<Format>,
    pub(super) options: Options,
    pub(super) devices: DeviceSelection,
    pub(super) address: Address,
    pub(super) address_offset: u64,
    pub(super) time_scale: f64,
    pub(super) origin: Option<Origin>,
    pub(super) sort_ms: Option<f64>,
    pub(crate) requests: Option<u64>,
    pub(super) closed: Option<ClosedSpec>,
    /// Replay closed, with the think times of the trace.
    pub(super) paced: Option<DependsOn>,
    /// Whether measured times are kept.
    pub(crate) keep_measured: bool,
}

/// The requests that a request may have waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DependsOn {
    /// The requests of its stream: its device in the trace.
    Stream,
    /// All.
    All,
}

/// The values of the key `depends_on`.
pub const DEPENDS_ON: [(&str, DependsOn); 2] =
    [("stream", DependsOn::Stream), ("all", DependsOn::All)];

impl DependsOn {
    /// The stream of a record.
    pub fn stream(self, record: &Record) -> u32 {
        match self {
            Self::Stream => record.device,
            Self::All => 0,
        }
    }
}

/// The progress before the first request.
pub(crate) const NOT_BEGUN: Progress = Progress { completed: 0, requests: None, share: None };

/// The origin of the times of a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// The origin of the file's times.
    File,
    /// The first request.
    First,
}

pub(super) const ORIGINS: [(&str, Origin); 2] = [("file", Origin::File), ("first", Origin::First)];

/// The name of a value of a key.
pub fn name_of<T: PartialEq>(names: &[(&str, T)], value: T) -> Option<String> {
    names.iter().find(|(_, known)| *known == value).map(|(name, _)| (*name).to_owned())
}

/// The only value of `think` that a trace has.
const RECORDED: [(&str, ()); 1] = [("recorded", ())];

/// The names of the events that are the requests of a `blkparse` trace.
pub const BLK_ACTIONS: [(&str, BlkAction); 3] =
    [("Q", BlkAction::Queue), ("D", BlkAction::Issue), ("C", BlkAction::Complete)];

/// The handling of glitches: an error, as for other falling times, or dropped.
const GLITCHES: [(&str, bool); 2] = [("error", false), ("drop", true)];

impl TraceSpec {
    /// The file.
    pub(crate) fn path(&self) -> &Path {
        self.supply.path()
    }

    /// Reads the keys for the trace at `path`; the caller finishes `keys`.
    ///
    /// # Errors
    /// A key that is out of range, or one about times for a closed replay.
    pub fn read(path: &Path, keys: &mut Keys) -> Result<Self> {
        let time_scale = keys.opt_f64("time_scale", Range::at_least(1e-6).at_most(1e12))?;
        let origin = keys.opt_choice("time_origin", &ORIGINS)?;
        let closed = ClosedSpec::read(keys)?;
        let given = [("time_scale", time_scale.is_some()), ("time_origin", origin.is_some())];
        if let (Some((key, _)), Some(_)) = (given.iter().find(|(_, given)| *given), closed) {
            let problem = "must not be given with queue_depth or think_ms: a closed replay \
                           ignores the times of the trace";
            return Err(keys.refuse(key, problem));
        }
        let think = keys.opt_choice("think", &RECORDED)?;
        if think.is_some() && closed.is_some() {
            let problem = "must not be given with queue_depth or think_ms: what is outstanding and \
                           the think times are those of the trace";
            return Err(keys.refuse("think", problem));
        }
        let depends_on = keys.opt_choice("depends_on", &DEPENDS_ON)?;
        if depends_on.is_some() && think.is_none() {
            return Err(keys.refuse("depends_on", "needs think = \"recorded\""));
        }
        Ok(Self {
            supply: Supply::new(path),
            format: keys.opt_choice("trace_format", &formats::all().readers.choices())?,
            options: Options {
                formats: formats::all(),
                columns: keys.opt_text("columns")?,
                units: GivenUnits::read(|key| keys.opt_text(key))?,
                blk_action: keys.opt_choice("blk_action", &BLK_ACTIONS)?,
                drop_glitches: keys.opt_choice("glitches", &GLITCHES)?.unwrap_or_default(),
            },
            devices: (keys.opt_name("trace_device")?)
                .map_or(DeviceSelection::Only, DeviceSelection::named),
            address: (keys.opt_choice("address", &Address::CHOICES)?).unwrap_or_default(),
            address_offset: (keys.opt_u64("address_offset", 0..=i64::MAX as u64)?)
                .unwrap_or_default(),
            time_scale: time_scale.unwrap_or(1.0),
            origin,
            sort_ms: keys.opt_f64("sort_ms", Range::at_least(0.0).at_most(LONGEST_SORT_MS))?,
            requests: keys.opt_u64("requests", 1..=i64::MAX as u64)?,
            closed,
            paced: think.map(|()| depends_on.unwrap_or(DependsOn::Stream)),
            keep_measured: false,
        })
    }

    /// Reads from the same place as `other`, which may be a stream that was kept.
    pub(crate) fn read_as(&mut self, other: &Self) {
        self.supply = other.supply.clone();
    }

    /// Whether addresses depend on the size of the device.
    pub(crate) fn needs_blocks(&self) -> bool {
        self.address != Address::Error
    }

    /// Lets [`TraceSpec::source`] be called any number of times, also on clones:
    /// copies a stream to a temporary file of up to
    /// [`sledsim_traces::MOST_KEPT_BYTES`].
    ///
    /// # Errors
    /// It cannot be read or copied, was read before, or `check`'s.
    pub fn keep(&self, check: &mut dyn FnMut(Progress) -> Result<()>) -> Result<()> {
        self.supply.keep(&mut || check(NOT_BEGUN))
    }

    /// The accesses to objects, if the file has such in place of requests.
    pub(crate) fn objects(
        &self,
        check: &mut dyn FnMut(Progress) -> Result<()>,
    ) -> Result<Option<Objects>> {
        Objects::open(&self.supply, self.format, &self.options, &mut || check(NOT_BEGUN))
    }

    /// A given key that has an effect only on traces with times.
    pub(super) fn about_times(&self) -> Option<&'static str> {
        let given = [
            ("time_origin", self.origin.is_some()),
            ("sort_ms", self.sort_ms.is_some()),
            ("glitches", self.options.drop_glitches),
            ("think", self.paced.is_some()),
        ];
        (given.into_iter()).find_map(|(key, given)| given.then_some(key))
    }
}
