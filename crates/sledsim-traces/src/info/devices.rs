//! Statistics of the requests to each device.

use crate::record::Record;
use serde::Serialize;
use sledsim_base::request::Op;

/// The most devices counted separately.
const MOST: usize = 1 << 16;

/// The requests to one device, or of one stream. Shares of nothing are none.
#[derive(Clone, Debug, Serialize)]
pub struct DeviceSummary {
    /// Its number.
    pub id: u32,
    /// Its name, if the trace has names.
    pub name: Option<String>,
    /// The number of requests.
    pub requests: u64,
    /// The share of reads.
    pub read_fraction: Option<f64>,
    /// The share of sequential requests.
    pub sequential_fraction: Option<f64>,
    /// The share of sequential reads in all reads.
    pub sequential_read_fraction: Option<f64>,
    /// The share of sequential writes in all writes.
    pub sequential_write_fraction: Option<f64>,
    /// Blocks of all requests.
    pub total_blocks: u64,
    /// The lowest block accessed.
    pub lowest_block: Option<u64>,
    /// The highest block accessed.
    pub highest_block: Option<u64>,
}

/// One device.
#[derive(Clone, Copy)]
struct Device {
    id: u32,
    /// By operation, in the order of [`Op::ALL`].
    requests: [u64; Op::ALL.len()],
    sequential: [u64; Op::ALL.len()],
    blocks: u64,
    lowest: u64,
    /// One past the highest block.
    end: u64,
    /// One past the last block of its latest request.
    next: u64,
    /// The same for each of the recent requests, as a ring buffer.
    ends: [u64; RECENT],
    turn: usize,
    recent: u64,
}

/// The number of requests that are recent.
pub(super) const RECENT: usize = 16;

/// The devices seen, ascending.
pub(super) struct DeviceStats {
    devices: Vec<Device>,
    /// The index of the latest request's device.
    latest: usize,
    /// The gap in blocks that a sequential request may leave.
    interleave: Option<u64>,
    /// The number of requests to devices beyond [`MOST`].
    others: u64,
    sequential: [u64; Op::ALL.len()],
}

impl DeviceStats {
    pub fn new(interleave: Option<u64>) -> Self {
        Self {
            devices: Vec::new(),
            latest: 0,
            interleave,
            others: 0,
            sequential: [0; Op::ALL.len()],
        }
    }

    /// Records a request to device `id`.
    #[inline]
    pub fn record(&mut self, id: u32, record: &Record) {
        let known = self.devices.get(self.latest);
        if known.is_none_or(|device| device.id != id) && !self.find(id) {
            self.others += 1;
            return;
        }
        let device = &mut self.devices[self.latest];
        let op = record.op as usize;
        device.requests[op] += 1;
        if record.op == Op::Flush {
            return;
        }
        let (start, end) = record.blocks();
        let is_sequential = start == device.next
            || (self.interleave)
                .is_some_and(|blocks| device.next.checked_add(blocks) == Some(start));
        device.sequential[op] += u64::from(is_sequential);
        self.sequential[op] += u64::from(is_sequential);
        device.recent += u64::from(device.ends.contains(&start));
        device.ends[device.turn] = end;
        device.turn = (device.turn + 1) % RECENT;
        device.blocks = device.blocks.saturating_add(end - start);
        device.lowest = device.lowest.min(start);
        device.end = device.end.max(end);
        device.next = end;
    }

    /// Makes `id` the latest device; false if there are too many.
    #[cold]
    fn find(&mut self, id: u32) -> bool {
        self.latest = match self.devices.binary_search_by_key(&id, |device| device.id) {
            Ok(index) => index,
            Err(_) if self.devices.len() == MOST => return false,
            Err(index) => {
                let device = Device {
                    id,
                    requests: [0; Op::ALL.len()],
                    sequential: [0; Op::ALL.len()],
                    blocks: 0,
                    lowest: u64::MAX,
                    end: 0,
                    next: u64::MAX,
                    ends: [u64::MAX; RECENT],
                    turn: 0,
                    recent: 0,
                };
                self.devices.insert(index, device);
                index
            }
        };
        true
    }

    /// One past the highest block of all.
    pub fn end(&self) -> u64 {
        self.devices.iter().map(|device| device.end).max().unwrap_or(0)
    }

    /// Sequential requests, by operation.
    pub fn sequential(&self) -> [u64; Op::ALL.len()] {
        self.sequential
    }

    /// The number of requests that begin where a recent one of their device
    /// ended.
    pub fn recent(&self) -> u64 {
        self.devices.iter().map(|device| device.recent).sum()
    }

    /// The number of requests to devices that are not listed.
    pub fn others(&self) -> u64 {
        self.others
    }

    /// The `devices` of the document, ascending, with their names.
    pub fn summaries(&self, name: &dyn Fn(u32) -> Option<String>) -> Vec<DeviceSummary> {
        let share = |part: u64, all: u64| (all > 0).then(|| part as f64 / all as f64);
        let summary = |device: &Device| {
            let of = |op: Op| share(device.sequential[op as usize], device.requests[op as usize]);
            let requests = device.requests.iter().sum();
            let touched = device.end > 0;
            DeviceSummary {
                id: device.id,
                name: name(device.id),
                requests,
                read_fraction: share(device.requests[Op::Read as usize], requests),
                sequential_fraction: share(device.sequential.iter().sum(), requests),
                sequential_read_fraction: of(Op::Read),
                sequential_write_fraction: of(Op::Write),
                total_blocks: device.blocks,
                lowest_block: touched.then_some(device.lowest),
                highest_block: touched.then(|| device.end - 1),
            }
        };
        self.devices.iter().map(summary).collect()
    }

    /// The device of `ids` with the most requests.
    pub fn busiest(&self, ids: &[u32]) -> Option<u32> {
        let listed = self.devices.iter().filter(|device| ids.contains(&device.id));
        let busiest = listed.max_by_key(|device| {
            let requests: u64 = device.requests.iter().sum();
            (requests, std::cmp::Reverse(device.id))
        });
        busiest.map(|device| device.id)
    }
}
