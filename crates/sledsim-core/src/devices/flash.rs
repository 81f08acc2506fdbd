//! A deliberately simple flash device: parallel units behind one link.
//!
//! The address space is cut into pages, dealt out over the units in turn. A
//! unit does one page at a time, first come, first served, in a fixed time to
//! read and a fixed time to program; the link carries one page at a time,
//! first come, first served. Pages of many requests are under way at once, so
//! this is a [`Model`] of its own and takes no scheduler.
//!
//! A read goes to the units on arrival; as each page has been read, the blocks
//! wanted of it take the link. Data of a write take the link on arrival, page by
//! page; as each page is in, it is programmed, whole, however little of it is
//! written. A unit is free as soon as its page has been read: the page waits
//! for the link in a register. A request is complete with its last page.
//!
//! Not modelled: erasing, a translation layer, garbage collection, wear, mapping of
//! partial pages, and a cache. A flush and a trim take no time: completed writes are on
//! the media.
//!
//! The row of a request holds the times of its last page. Read: `queue` until its unit
//! starts, `transfer` in the unit, `bus` until its blocks have crossed the link. Write:
//! `bus` while the data up to this page cross, `queue` for waiting for the link and for
//! the unit, `transfer` for programming. `passes` counts pages.

use super::kind::{Capacity, DeviceKind, KindEntry};
use crate::model::contents::Promise;
use crate::model::mechanism::BlockOrder;
use crate::model::media_writes::{MediaWrite, MediaWrites};
use crate::model::{Busy, CompletionSink, Energy, Model, Report};
use crate::queueing::schedulers::Scheduler;
use serde::Serialize;
use slab::Slab;
use sledsim_base::error::Result;
use sledsim_base::keys::{Keys, Range};
use sledsim_base::request::{Extent, Op, Request};
use sledsim_base::row::{Parts, Row};
use sledsim_base::units::{BLOCK_BYTES, Nanos};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

/// A checked flash device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flash {
    /// Number of logical blocks.
    pub blocks: u64,
    /// Number of pages read or programmed at once.
    pub units: u32,
    /// Blocks in a page.
    pub page_blocks: u32,
    /// Time to read a page.
    pub read: Nanos,
    /// Time to program a page.
    pub program: Nanos,
    /// Time of a block on the link, in nanoseconds.
    pub link_ns_per_block: f64,
    /// Power of each busy unit, in mW.
    pub unit_mw: f64,
    /// Power drawn all the time, in mW.
    pub idle_mw: f64,
}

impl Flash {
    /// Reads the spec from `keys`.
    pub fn read(keys: &mut Keys) -> Result<Self> {
        let time_us = Range::at_least(0.0).at_most(1e9);
        let power_mw = Range::at_least(0.0).at_most(1e9);
        let link_mb_s = Range::at_least(1e-3).at_most(f64::INFINITY);
        Ok(Self {
            blocks: keys.u64("blocks", 1..=1 << 40)?,
            units: keys.u32("units", 1..=65_536)?,
            page_blocks: keys.u32("page_blocks", 1..=65_536)?,
            read: Nanos::from_s(1e-6 * keys.f64("read_us", time_us)?),
            program: Nanos::from_s(1e-6 * keys.f64("program_us", time_us)?),
            link_ns_per_block: 1e3 * BLOCK_BYTES as f64 / keys.f64("link_mb_s", link_mb_s)?,
            unit_mw: keys.f64("power_unit_mw", power_mw)?,
            idle_mw: keys.f64("power_idle_mw", power_mw)?,
        })
    }

    /// Quantities derived from the spec, with units in their names. Rates assume that
    /// all units are busy or the link is saturated.
    pub fn derived(&self) -> Derived {
        let page_bytes = u64::from(self.page_blocks) * BLOCK_BYTES;
        let link_mb_s = 1e3 * BLOCK_BYTES as f64 / self.link_ns_per_block;
        let rate_mb_s = |page: Nanos| {
            let units = f64::from(self.units) * page_bytes as f64 / page.0 as f64 * 1e3;
            let rate = units.min(link_mb_s);
            rate.is_finite().then_some(rate)
        };
        Derived {
            capacity: Capacity::of(self.blocks),
            page_bytes,
            streaming_mb_s: rate_mb_s(self.read),
            write_mb_s: rate_mb_s(self.program),
        }
    }

    fn link(&self, blocks: u32) -> Nanos {
        Nanos((f64::from(blocks) * self.link_ns_per_block + 0.5) as u64)
    }
}

/// Quantities derived from the spec of a flash device.
#[derive(Clone, Debug, Serialize)]
pub struct Derived {
    /// What it holds.
    #[serde(flatten)]
    pub capacity: Capacity,
    /// Bytes of a page.
    pub page_bytes: u64,
    /// The rate of reads; `None` if it has no limit.
    pub streaming_mb_s: Option<f64>,
    /// The rate of writes; `None` if it has no limit.
    pub write_mb_s: Option<f64>,
}

/// A page waiting for its next stage: a read page for the link, a written page for its
/// unit. Ordered by (time, sequence).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Page {
    at: Nanos,
    sequence: u64,
    /// Slab key of its request.
    open: usize,
    /// The first of its blocks that the request accesses.
    lbn: u64,
    /// Its unit: page number modulo units.
    unit: usize,
    /// Number of its blocks that the request accesses.
    blocks: u32,
    /// Start in its unit (read), or on the link for the first page of its request
    /// (write).
    start: Nanos,
}

/// A request in flight.
#[derive(Clone, Copy, Debug, Default)]
struct HostRequest {
    row: Row,
    pages_left: u32,
}

/// A flash device as a [`Model`].
pub struct FlashModel {
    name: String,
    device: u16,
    spec: Flash,
    unit_free: Vec<Nanos>,
    link_free: Nanos,
    pages: BinaryHeap<Reverse<Page>>,
    sequence: u64,
    open: Slab<HostRequest>,
    /// Busy time summed over all units, and of the link.
    worked: Busy,
    link_busy: Busy,
    /// Where the writes to its pages are shown, if anywhere.
    media_writes: Option<MediaWrites>,
}

impl FlashModel {
    /// The device `spec` describes. `device` and `name` mark its rows and
    /// reports.
    pub fn new(name: &str, device: u16, spec: Flash) -> Self {
        Self {
            name: name.to_owned(),
            device,
            spec,
            unit_free: vec![Nanos::ZERO; spec.units as usize],
            link_free: Nanos::ZERO,
            pages: BinaryHeap::new(),
            sequence: 0,
            open: Slab::new(),
            worked: Busy::default(),
            link_busy: Busy::default(),
            media_writes: None,
        }
    }

    /// Occupies `unit` for `time` for request `id`, from `at` or as soon as it is free.
    /// Returns start and end.
    fn take_unit(&mut self, id: u64, unit: usize, at: Nanos, time: Nanos) -> (Nanos, Nanos) {
        let start = at.max(self.unit_free[unit]);
        self.unit_free[unit] = start + time;
        self.worked.add(id, time);
        (start, start + time)
    }

    fn take_link(&mut self, id: u64, blocks: u32, at: Nanos) -> Nanos {
        let time = self.spec.link(blocks);
        self.link_busy.add(id, time);
        self.link_free = at.max(self.link_free) + time;
        self.link_free
    }

    /// Sends a page that has been read over the link.
    fn read_page(&mut self, page: &Page, sink: &mut dyn CompletionSink) {
        let end = self.take_link(self.open[page.open].row.id, page.blocks, page.at);
        let row = &self.open[page.open].row;
        let parts = Parts {
            queue: page.start - row.arrival,
            transfer: page.at - page.start,
            bus: end - page.at,
            ..Parts::default()
        };
        self.page_done(page, end, parts, sink);
    }

    /// Programs a page that has crossed the link.
    fn program_page(&mut self, page: &Page, sink: &mut dyn CompletionSink) {
        let id = self.open[page.open].row.id;
        let (start, end) = self.take_unit(id, page.unit, page.at, self.spec.program);
        let row = &self.open[page.open].row;
        if let Some(writes) = &self.media_writes {
            writes.push(MediaWrite {
                source: Some(row.id),
                extent: Extent { lbn: page.lbn, blocks: page.blocks },
                start,
                end,
                order: BlockOrder::Together,
            });
        }
        let parts = Parts {
            queue: (page.start - row.arrival) + (start - page.at),
            transfer: end - start,
            bus: page.at - page.start,
            ..Parts::default()
        };
        self.page_done(page, end, parts, sink);
    }

    fn page_done(&mut self, page: &Page, at: Nanos, parts: Parts, sink: &mut dyn CompletionSink) {
        let open = &mut self.open[page.open];
        let row = &mut open.row;
        if at >= row.completion {
            row.completion = at;
            row.parts = parts;
        }
        open.pages_left -= 1;
        if open.pages_left == 0 {
            sink.done(&open.row);
            self.open.remove(page.open);
        }
    }
}

/// Iterates over the pages of an extent: page number, and blocks of the extent in it.
fn pages(lbn: u64, end: u64, page_blocks: u64) -> impl Iterator<Item = (u64, u32)> {
    (lbn / page_blocks..end.div_ceil(page_blocks)).map(move |page| {
        let from = lbn.max(page * page_blocks);
        let to = end.min((page + 1) * page_blocks);
        (page, (to - from) as u32)
    })
}

impl Model for FlashModel {
    fn blocks(&self) -> u64 {
        self.spec.blocks
    }

    fn servers(&self) -> u64 {
        u64::from(self.spec.units)
    }

    fn submit(&mut self, request: Request, sink: &mut dyn CompletionSink) {
        let arrival = request.arrival;
        self.advance(arrival, false, sink);
        let mut row = Row::of(&request, self.device);
        row.queue_depth = self.open.len() as u32;
        row.start = arrival;
        row.completion = arrival;
        if !request.op.moves_data() {
            sink.done(&row);
            return;
        }
        let reads = request.op == Op::Read;
        let width = u64::from(self.spec.page_blocks);
        let extents = request.extents.iter();
        row.passes = extents.map(|e| (e.end().div_ceil(width) - e.lbn / width) as u32).sum();
        let time = if reads { self.spec.read } else { self.spec.program };
        let joules = 1e-3 * self.spec.unit_mw * time.s() * f64::from(row.passes);
        row.energy_nj = (joules * 1e9 + 0.5) as u64;
        let link_start = arrival.max(self.link_free);
        row.start = if reads { Nanos::MAX } else { link_start };
        let open = self.open.insert(HostRequest { pages_left: row.passes, row });
        for extent in &request.extents {
            for (page, blocks) in pages(extent.lbn, extent.end(), width) {
                let unit = (page % u64::from(self.spec.units)) as usize;
                let (start, at) = if reads {
                    self.take_unit(row.id, unit, arrival, self.spec.read)
                } else {
                    (link_start, self.take_link(row.id, blocks, arrival))
                };
                let first = &mut self.open[open].row.start;
                *first = start.min(*first);
                let sequence = self.sequence;
                self.sequence += 1;
                self.pages.push(Reverse(Page {
                    at,
                    sequence,
                    open,
                    lbn: extent.lbn.max(page * width),
                    unit,
                    blocks,
                    start,
                }));
            }
        }
    }

    fn next_event(&self) -> Option<Nanos> {
        self.pages.peek().map(|Reverse(page)| page.at)
    }

    fn happen(&mut self, _at: Nanos, sink: &mut dyn CompletionSink) {
        let Reverse(page) = self.pages.pop().expect("a page is due");
        if self.open[page.open].row.op == Op::Read {
            self.read_page(&page, sink);
        } else {
            self.program_page(&page, sink);
        }
    }

    fn show_media_writes(&mut self, writes: &MediaWrites) -> bool {
        self.media_writes = Some(writes.clone());
        true
    }

    /// The mechanism is the mean of the units.
    fn report(&self, until: Nanos, reports: &mut Vec<Report>) {
        reports.push(Report {
            name: self.name.clone(),
            mechanisms: vec![
                ("", self.worked / u64::from(self.spec.units)),
                (".link", self.link_busy),
            ],
            energy: Some(Energy {
                transfer_j: 1e-3 * self.spec.unit_mw * self.worked.total().s(),
                idle_j: 1e-3 * self.spec.idle_mw * until.s(),
                ..Energy::default()
            }),
            ..Report::default()
        });
    }
}

/// Registers the device kind `flash`.
pub const KIND: KindEntry =
    KindEntry { name: "flash", read: |keys, _| Ok(Arc::new(Flash::read(keys)?)) };

impl DeviceKind for Flash {
    fn kind(&self) -> &'static str {
        KIND.name
    }

    fn blocks(&self) -> u64 {
        self.blocks
    }

    fn derived(&self) -> Box<dyn erased_serde::Serialize> {
        Box::new(self.derived())
    }

    fn promise(&self, _children: &[Promise]) -> Promise {
        Promise::Completion
    }

    fn build(
        &self,
        name: &str,
        device: u16,
        _scheduler: &dyn Fn() -> Box<dyn Scheduler>,
        _children: Vec<Box<dyn Model>>,
    ) -> Box<dyn Model> {
        Box::new(FlashModel::new(name, device, *self))
    }
}
