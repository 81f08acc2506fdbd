//! What each child of an array holds, against layouts and parities written here
//! from their definitions: for every block, and every set of up to three missing
//! children.

use crate::common::Rows;
use sledsim_base::keys::Keys;
use sledsim_base::random::Stream;
use sledsim_base::request::{Extent, Op, Request, lbns};
use sledsim_base::row::Status;
use sledsim_base::units::Nanos;
use sledsim_core::catalog::Device;
use sledsim_core::compose::arrays::ArraySpec;
use sledsim_core::model::{CompletionSink, Contents, Model, Report};
use sledsim_core::queueing::schedulers::SchedulerSpec;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

const SECOND: u64 = 1_000_000_000;

/// When the children fail: after all blocks were written for the first time.
const FAILURE_S: u64 = 1000;

/// The tokens of a child by address; an address never written has 0.
type Held = Arc<Mutex<BTreeMap<u64, u64>>>;

/// A memory whose tokens can be looked at.
struct Shown {
    inner: Box<dyn Model>,
    staged: Vec<u64>,
    held: Held,
}

impl Model for Shown {
    fn blocks(&self) -> u64 {
        self.inner.blocks()
    }

    fn submit(&mut self, request: Request, sink: &mut dyn CompletionSink) {
        if request.op == Op::Write {
            let staged = std::mem::take(&mut self.staged);
            assert_eq!(staged.len(), request.blocks() as usize);
            self.held.lock().expect("one thread").extend(lbns(&request.extents).zip(staged));
        }
        self.inner.submit(request, sink);
    }

    fn next_event(&self) -> Option<Nanos> {
        self.inner.next_event()
    }

    fn happen(&mut self, at: Nanos, sink: &mut dyn CompletionSink) {
        self.inner.happen(at, sink);
    }

    fn contents(&mut self) -> Option<&mut dyn Contents> {
        Some(self)
    }

    fn report(&self, until: Nanos, reports: &mut Vec<Report>) {
        self.inner.report(until, reports);
    }
}

impl Shown {
    fn inner(&mut self) -> &mut dyn Contents {
        self.inner.contents().expect("contents")
    }
}

impl Contents for Shown {
    fn stage_write(&mut self, tokens: &[u64]) {
        tokens.clone_into(&mut self.staged);
        self.inner().stage_write(tokens);
    }

    fn take_read_data(&mut self, id: u64) -> Vec<u64> {
        self.inner().take_read_data(id)
    }

    fn lose_power(&mut self, at: Nanos, chance: &mut Stream) {
        self.inner().lose_power(at, chance);
    }

    fn recover_until(&mut self, at: Nanos, until: Nanos) -> Option<Nanos> {
        self.inner().recover_until(at, until)
    }

    fn token(&mut self, lbn: u64) -> u64 {
        self.inner().token(lbn)
    }
}

/// What stands at an address of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cell {
    Data(u64),
    /// The sum of the data of its row.
    P,
    /// The sum of the data times the powers of x, the first data times 1.
    Q,
    Unused,
}

/// An array of one kind, with units of `unit` blocks.
#[derive(Clone, Copy, Debug)]
struct Shape {
    kind: &'static str,
    width: usize,
    unit: u64,
    rows: u64,
}

impl Shape {
    /// The units of the table, row by row, as md(4) describes them, and the units of
    /// a row in the order of Q.
    fn table(self) -> Vec<Vec<Cell>> {
        let mut next = 0;
        let mut data = || {
            next += 1;
            Cell::Data(next - 1)
        };
        let mut table = vec![vec![Cell::Unused; self.width]; self.rows as usize];
        match self.kind {
            "raid1" => table.iter_mut().for_each(|row| row.fill(data())),
            "raid10" => {
                let places = self.rows as usize * self.width;
                for first in (0..places - 1).step_by(2) {
                    let unit = data();
                    for place in [first, first + 1] {
                        table[place / self.width][place % self.width] = unit;
                    }
                }
            }
            kind => {
                let parities: &[Cell] =
                    if kind == "raid5" { &[Cell::P] } else { &[Cell::P, Cell::Q] };
                let mut first = self.width - 1;
                for row in &mut table {
                    for step in 0..self.width {
                        let slot = (first + step) % self.width;
                        row[slot] = parities.get(step).copied().unwrap_or_else(&mut data);
                    }
                    first = if first == 0 { self.width - 1 } else { first - 1 };
                }
            }
        }
        table
    }

    /// The children that may be missing without any loss.
    fn parities(self) -> usize {
        match self.kind {
            "raid5" => 1,
            "raid6" => 2,
            _ => 0,
        }
    }

    fn blocks(self) -> u64 {
        let units = self.table().into_iter().flatten().filter_map(|cell| match cell {
            Cell::Data(unit) => Some(unit + 1),
            _ => None,
        });
        units.max().expect("data") * self.unit
    }

    /// Whether a block can be neither read nor reconstructed.
    fn is_lost(self, table: &[Vec<Cell>], lbn: u64, missing: &[usize]) -> bool {
        let unit = Cell::Data(lbn / self.unit);
        let on = |slot: &usize| table.iter().any(|row| row[*slot] == unit);
        let copies = (0..self.width).filter(on).count();
        let gone = missing.iter().filter(|slot| on(slot)).count();
        gone == copies && missing.len() > self.parities()
    }

    /// What each slot must hold at every address, of the data by LBN.
    fn held(self, table: &[Vec<Cell>], data: &[u64]) -> BTreeMap<(usize, u64), u64> {
        let mut held = BTreeMap::new();
        for (row, cells) in table.iter().enumerate() {
            // In the order of Q: from the slot after it on.
            let after_q = cells.iter().position(|cell| *cell == Cell::Q).map_or(0, |slot| slot + 1);
            let ordered = (0..self.width).map(|step| cells[(after_q + step) % self.width]);
            let units: Vec<u64> = ordered
                .filter_map(|cell| if let Cell::Data(unit) = cell { Some(unit) } else { None })
                .collect();
            for offset in 0..self.unit {
                let token = |unit: &u64| data[(unit * self.unit + offset) as usize];
                for (slot, cell) in cells.iter().enumerate() {
                    let value = match cell {
                        Cell::Data(unit) => token(unit),
                        Cell::P => units.iter().fold(0, |sum, unit| sum ^ token(unit)),
                        Cell::Q => (0..).zip(&units).fold(0, |sum, (exponent, unit)| {
                            sum ^ bytes_times_x(token(unit), exponent)
                        }),
                        Cell::Unused => continue,
                    };
                    held.insert((slot, row as u64 * self.unit + offset), value);
                }
            }
        }
        held
    }

    fn all() -> Vec<Self> {
        let of = |kind, widths: std::ops::RangeInclusive<usize>| {
            widths.flat_map(move |width| {
                // A whole turn of the layout, and some more; an odd number of rows, too.
                let rows = width as u64 + 2;
                [1, 3].map(|unit| Self { kind, width, unit, rows })
            })
        };
        let kinds = [of("raid1", 2..=3), of("raid5", 3..=5), of("raid6", 4..=7)];
        kinds.into_iter().flatten().chain(of("raid10", 2..=7)).collect()
    }
}

/// Each byte of a token as a polynomial over GF(2), times `x^exponent`, modulo
/// x^8 + x^4 + x^3 + x^2 + 1: one step of the long division for each power.
fn bytes_times_x(token: u64, exponent: u32) -> u64 {
    let byte = |value: u8| {
        let mut left = u128::from(value) << exponent;
        for degree in (8..8 + exponent).rev() {
            if left >> degree & 1 == 1 {
                left ^= 0b1_0001_1101 << (degree - 8);
            }
        }
        left as u8
    };
    u64::from_ne_bytes(token.to_ne_bytes().map(byte))
}

#[test]
fn the_field_is_the_one_of_linux() {
    // The powers of 2 in `raid6_gfexp` of lib/raid6, from the eighth on.
    let powers: Vec<u64> = (8..16).map(|exponent| bytes_times_x(1, exponent)).collect();
    assert_eq!(powers, [0x1d, 0x3a, 0x74, 0xe8, 0xcd, 0x87, 0x13, 0x26]);
}

/// An array under test, and what it should hold.
struct Bench {
    shape: Shape,
    table: Vec<Vec<Cell>>,
    model: Box<dyn Model>,
    held: Vec<Held>,
    rows: Rows,
    at: u64,
    id: u64,
    data: Vec<u64>,
    chance: Stream,
}

impl Bench {
    /// An array whose `missing` children fail at [`FAILURE_S`].
    fn new(shape: Shape, missing: &[usize], spares: usize) -> Self {
        let Shape { kind, width, unit, rows } = shape;
        let times: Vec<String> = missing.iter().map(|_| format!("{FAILURE_S}_000.0")).collect();
        let mut text = format!(
            "fail_child = {missing:?}\nfail_at_ms = [{}]\nspares = {spares}\n",
            times.join(",")
        );
        if kind != "raid1" {
            text += &format!("unit_blocks = {unit}\n");
        }
        if spares > 0 {
            text += &format!("rebuild_unit_blocks = {}\n", 2 * unit);
        }
        let keys = &mut Keys::parse(&text, "array").expect("TOML");
        let read = match kind {
            "raid1" => ArraySpec::read_raid1,
            "raid5" => ArraySpec::read_raid5,
            "raid6" => ArraySpec::read_raid6,
            _ => ArraySpec::read_raid10,
        };
        let blocks = rows * unit;
        let spec = read(keys, width as u32, blocks).expect("an array");
        let memory = format!(
            "title = 'm'\nkind = 'memory'\nblocks = {blocks}\nlatency_ms = 1\nms_per_block = 0"
        );
        let memory = Keys::parse(&memory, "memory").expect("TOML");
        let memory = Device::from_keys(memory, None).expect("a memory");
        let held: Vec<Held> = (0..width + spares).map(|_| Held::default()).collect();
        let child = |held: &Held| -> Box<dyn Model> {
            let inner = memory.build_keeping(&SchedulerSpec::default()).expect("a model").0;
            Box::new(Shown { inner, staged: Vec::new(), held: held.clone() })
        };
        let model = spec.build("array", 0, held.iter().map(child).collect());
        let data = vec![0; shape.blocks() as usize];
        assert_eq!(model.blocks(), shape.blocks(), "{shape:?}");
        let (rows, chance) = (Rows::default(), Stream::new(1, "contents"));
        Self { shape, table: shape.table(), model, held, rows, at: 0, id: 0, data, chance }
    }

    /// Waits until `second` after the start.
    fn wait(&mut self, second: u64) {
        self.at = self.at.max(second * SECOND);
        self.model.wake(Nanos(self.at), &mut self.rows);
    }

    /// Serves one request to its end, which takes less than a second.
    fn serve(&mut self, op: Op, extents: &[Extent], tokens: &[u64]) -> (Status, Vec<u64>) {
        let mut request = Request::new(self.id, Nanos(self.at), op, 0, 1);
        request.extents = extents.iter().copied().collect();
        self.id += 1;
        if op == Op::Write {
            self.model.contents().expect("contents").stage_write(tokens);
        }
        self.model.submit(request, &mut self.rows);
        self.at += SECOND;
        self.model.wake(Nanos(self.at), &mut self.rows);
        let row = self.rows.done.last().expect("a row");
        assert_eq!(row.id, self.id - 1);
        let read = match (op, row.status) {
            (Op::Read, Status::Ok) => {
                self.model.contents().expect("contents").take_read_data(row.id)
            }
            _ => Vec::new(),
        };
        (row.status, read)
    }

    /// Writes new data to extents.
    fn write(&mut self, extents: &[Extent]) -> Status {
        let places: Vec<u64> = lbns(extents).collect();
        let tokens: Vec<u64> = places.iter().map(|_| self.chance.below(u64::MAX)).collect();
        let (status, _) = self.serve(Op::Write, extents, &tokens);
        if status == Status::Ok {
            for (lbn, token) in places.into_iter().zip(tokens) {
                self.data[lbn as usize] = token;
            }
        }
        status
    }

    /// Writes all blocks: one at a time, in pieces of every size, and by twos that lie
    /// apart. Returns how many writes failed.
    fn write_all(&mut self) -> usize {
        let blocks = self.data.len() as u64;
        let mut writes: Vec<Vec<Extent>> = Vec::new();
        for length in 1..=self.shape.unit * self.shape.width as u64 {
            let starts = (0..=blocks - length.min(blocks)).step_by(length as usize);
            writes.extend(starts.map(|lbn| vec![Extent { lbn, blocks: length as u32 }]));
        }
        let step = self.shape.unit + 1;
        for lbn in (0..blocks.saturating_sub(step)).step_by(3) {
            writes.push([lbn, lbn + step].map(|lbn| Extent { lbn, blocks: 1 }).to_vec());
        }
        for extents in &mut writes {
            extents.retain(|extent| extent.end() <= blocks);
        }
        writes.retain(|extents| !extents.is_empty());
        writes.iter().filter(|extents| self.write(extents) == Status::Error).count()
    }

    /// Compares what the children hold with what they should, except for `missing`;
    /// spares stand in for children.
    fn check_held(&self, missing: &[usize], spare_of: &BTreeMap<usize, usize>) {
        for ((slot, address), wanted) in self.shape.held(&self.table, &self.data) {
            if missing.contains(&slot) {
                continue;
            }
            let child = spare_of.get(&slot).copied().unwrap_or(slot);
            let held = self.held[child].lock().expect("one thread");
            let found = held.get(&address).copied().unwrap_or(0);
            assert_eq!(
                found, wanted,
                "{:?}: slot {slot} address {address}, missing {missing:?}, {spare_of:?}",
                self.shape
            );
        }
    }

    /// Reads every block, alone and all together; compares it with what was written, and
    /// checks that the lost ones are counted.
    fn check_reads(&mut self, missing: &[usize]) {
        let mut lost = 0;
        for lbn in 0..self.data.len() as u64 {
            let (status, read) = self.serve(Op::Read, &[Extent { lbn, blocks: 1 }], &[]);
            let is_lost = self.shape.is_lost(&self.table, lbn, missing);
            let what = format!("{:?}: LBN {lbn}, missing {missing:?}", self.shape);
            assert_eq!(status == Status::Error, is_lost, "{what}");
            let token = self.model.contents().expect("contents").token(lbn);
            let wanted = self.data[lbn as usize];
            if is_lost {
                assert_eq!(token, u64::MAX, "{what}");
            } else {
                assert_eq!((read, token), (vec![wanted], wanted), "{what}");
            }
            lost += u64::from(is_lost);
        }
        let mut reports = Vec::new();
        self.model.report(Nanos(self.at), &mut reports);
        let counts: BTreeMap<_, _> = reports[0].counts.iter().copied().collect();
        assert_eq!(counts["lost_blocks"], lost, "{:?}, missing {missing:?}", self.shape);
        let whole = Extent { lbn: 0, blocks: self.data.len() as u32 };
        let (status, read) = self.serve(Op::Read, &[whole], &[]);
        assert_eq!(status == Status::Error, lost > 0);
        assert!(lost > 0 || read == self.data, "{:?}, missing {missing:?}", self.shape);
    }
}

/// All sets of up to three of `width` children, the empty one too.
fn sets(width: usize) -> Vec<Vec<usize>> {
    let masks = (0_usize..1 << width).filter(|mask| mask.count_ones() <= 3);
    masks.map(|mask| (0..width).filter(|slot| mask >> slot & 1 == 1).collect()).collect()
}

#[test]
fn every_set_of_missing_children_loses_what_it_must_and_no_more() {
    for shape in Shape::all() {
        for missing in sets(shape.width) {
            let mut bench = Bench::new(shape, &missing, 0);
            assert_eq!(bench.write_all(), 0);
            bench.check_held(&[], &BTreeMap::new());
            bench.wait(FAILURE_S);
            bench.check_reads(&missing);
            // Writes without these children.
            let lost = (0..bench.data.len() as u64)
                .filter(|lbn| shape.is_lost(&bench.table, *lbn, &missing))
                .count();
            assert_eq!(bench.write_all() > 0, lost > 0, "{shape:?} {missing:?}");
            bench.check_reads(&missing);
            if lost == 0 {
                bench.check_held(&missing, &BTreeMap::new());
            }
        }
    }
}

#[test]
fn a_rebuild_writes_what_the_missing_children_held() {
    for shape in Shape::all() {
        for missing in sets(shape.width) {
            let table = shape.table();
            let loses = |lbn| shape.is_lost(&table, lbn, &missing);
            if missing.is_empty() || (0..shape.blocks()).any(loses) {
                continue;
            }
            let mut bench = Bench::new(shape, &missing, missing.len());
            assert_eq!(bench.write_all(), 0);
            bench.wait(FAILURE_S + 1000);
            // Children that fail at once are replaced in their order, one after the other.
            let spare_of = (shape.width..).zip(&missing).map(|(spare, slot)| (*slot, spare));
            let spare_of: BTreeMap<usize, usize> = spare_of.collect();
            bench.check_held(&[], &spare_of);
            bench.check_reads(&[]);
        }
    }
}
