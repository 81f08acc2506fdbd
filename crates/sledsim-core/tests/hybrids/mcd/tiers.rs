//! Caching tiers under test: children with adverse times that record their
//! requests, and a host that knows which data a read may return.

use sledsim_base::keys::Keys;
use sledsim_base::random::Stream;
use sledsim_base::request::{Extents, Op, Request};
use sledsim_base::row::{Parts, Row};
use sledsim_base::units::Nanos;
use sledsim_core::compose::hybrids::mcd::{Mcd, McdSpec};
use sledsim_core::devices::memory::Memory;
use sledsim_core::model::contents::Contents;
use sledsim_core::model::{CompletionSink, Model, Report};
use sledsim_core::queueing::controllers::{Interface, Station};
use sledsim_core::queueing::schedulers::Fcfs;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::{Arc, Mutex};

/// The tier of these keys between two models.
pub fn tier(keys: &str, front: Box<dyn Model>, back: Box<dyn Model>) -> Mcd {
    let spec = spec(keys, front.blocks(), back.blocks());
    Mcd::new("tier", 0, spec, front, back)
}

/// The keys of a tier, read.
pub fn spec(text: &str, front_blocks: u64, back_blocks: u64) -> McdSpec {
    let mut keys = Keys::parse(text, "test").expect("TOML");
    let spec = McdSpec::read(&mut keys, front_blocks, back_blocks);
    let spec = spec.unwrap_or_else(|error| panic!("{error}\n{text}"));
    keys.finish().expect("no other keys");
    spec
}

/// The requests of a child, in order.
pub type Asked = Arc<Mutex<Vec<Request>>>;

/// The initial token of a block of the back.
pub fn initial(lbn: u64) -> u64 {
    1 << 60 | lbn
}

/// The initial token of the blocks of a front; no read may return it.
pub const POISON: u64 = u64::MAX;

/// A child that serves all requests concurrently, each for a random time.
///
/// Blocks are read and written at any instant between arrival and completion,
/// each block at its own.
pub struct Loose {
    device: u16,
    blocks: u64,
    most_ns: u64,
    /// Announces completions when they are due, not at once.
    is_late: bool,
    /// When it is free again, if it serves one request after the other.
    free_at: Option<Nanos>,
    random: Stream,
    due: BTreeMap<(Nanos, u64), Row>,
    count: u64,
    asked: Asked,
    contents: Option<Tokens>,
}

/// Contents of a [`Loose`] child.
struct Tokens {
    random: Stream,
    initial: fn(u64) -> u64,
    held: Option<Vec<u64>>,
    /// By block: when it was written, in which order, what.
    log: BTreeMap<u64, Vec<(Nanos, u64, u64)>>,
    /// By id of the read: block and when it is read.
    reads: BTreeMap<u64, Vec<(u64, Nanos)>>,
}

impl Loose {
    pub fn new(device: u16, blocks: u64, most_ns: u64, is_late: bool, seed: u64) -> Self {
        Self {
            device,
            blocks,
            most_ns,
            is_late,
            free_at: None,
            random: Stream::new(seed, &format!("child {device}")),
            due: BTreeMap::new(),
            count: 0,
            asked: Asked::default(),
            contents: None,
        }
    }

    /// The same child, which serves one request after the other.
    pub fn in_order(self) -> Self {
        Self { free_at: Some(Nanos::ZERO), ..self }
    }

    /// The same child with contents.
    pub fn keeping(mut self, seed: u64, initial: fn(u64) -> u64) -> Self {
        self.contents = Some(Tokens {
            random: Stream::new(seed, "instants"),
            initial,
            held: None,
            log: BTreeMap::new(),
            reads: BTreeMap::new(),
        });
        self
    }

    pub fn asked(&self) -> Asked {
        Arc::clone(&self.asked)
    }
}

fn each(extents: &Extents) -> impl Iterator<Item = u64> {
    extents.iter().flat_map(|extent| extent.lbn..extent.end())
}

impl Model for Loose {
    fn blocks(&self) -> u64 {
        self.blocks
    }

    fn submit(&mut self, request: Request, sink: &mut dyn CompletionSink) {
        assert!(request.op.moves_data() && !request.extents.is_empty());
        for extent in &request.extents {
            assert!(
                extent.blocks > 0 && extent.end() <= self.blocks,
                "{request:?} is not within {} blocks",
                self.blocks
            );
        }
        let mut time = |most: u64| match self.random.below(8) {
            0 => 0,
            1 => most,
            _ => self.random.below(most + 1),
        };
        let (mut waits, works) = (Nanos(time(self.most_ns)), Nanos(time(self.most_ns)));
        if let Some(free_at) = &mut self.free_at {
            waits = free_at.since(request.arrival);
            *free_at = request.arrival + waits + works;
        }
        let mut row = Row::of(&request, self.device);
        row.start = row.arrival + waits;
        row.completion = row.start + works;
        row.parts = Parts { queue: waits, seek: works, ..Parts::default() };
        row.passes = 1 + self.random.below(3) as u32;
        row.retries = self.random.below(2) as u32;
        row.energy_nj = self.random.below(1000);
        if let Some(contents) = &mut self.contents {
            contents.take(&request, &row, self.count);
        }
        self.asked.lock().expect("one thread").push(request);
        self.count += 1;
        if self.is_late {
            self.due.insert((row.completion, self.count), row);
        } else {
            sink.done(&row);
        }
    }

    fn happen(&mut self, now: Nanos, sink: &mut dyn CompletionSink) {
        while let Some(entry) = self.due.first_entry()
            && entry.key().0 <= now
        {
            sink.done(&entry.remove());
        }
    }

    fn next_event(&self) -> Option<Nanos> {
        self.due.keys().next().map(|(at, _)| *at)
    }

    fn contents(&mut self) -> Option<&mut dyn Contents> {
        self.contents.as_mut().map(|tokens| tokens as _)
    }

    fn report(&self, _until: Nanos, _reports: &mut Vec<Report>) {}
}

impl Tokens {
    fn take(&mut self, request: &Request, row: &Row, count: u64) {
        let random = &mut self.random;
        let mut instant = || row.arrival + Nanos(random.below(row.response().0 + 1));
        if request.op == Op::Read {
            let reads = each(&request.extents).map(|lbn| (lbn, instant()));
            self.reads.insert(request.id, reads.collect());
            return;
        }
        let held = self.held.take().expect("a write is announced");
        assert_eq!(held.len() as u32, request.blocks(), "a token per block");
        for (lbn, token) in each(&request.extents).zip(held) {
            let log = self.log.entry(lbn).or_default();
            log.push((instant(), count, token));
        }
    }

    fn at(&self, lbn: u64, instant: Nanos) -> u64 {
        let log = self.log.get(&lbn).into_iter().flatten();
        let before = log.filter(|(at, _, _)| *at <= instant);
        before.max().map_or((self.initial)(lbn), |write| write.2)
    }
}

impl Contents for Tokens {
    fn stage_write(&mut self, tokens: &[u64]) {
        assert!(self.held.is_none(), "the write announced before was submitted");
        self.held = Some(tokens.to_vec());
    }

    fn take_read_data(&mut self, id: u64) -> Vec<u64> {
        let reads = self.reads.remove(&id).expect("asked once, of a read");
        let tokens = reads.iter().map(|(lbn, at)| self.at(*lbn, *at));
        tokens.collect()
    }

    fn lose_power(&mut self, _at: Nanos, _chance: &mut Stream) {
        unreachable!("no power fails in these tests")
    }

    fn recover_until(&mut self, _at: Nanos, _until: Nanos) -> Option<Nanos> {
        unreachable!("no power fails in these tests")
    }

    fn token(&mut self, lbn: u64) -> u64 {
        self.at(lbn, Nanos::MAX)
    }
}

/// The results of a run.
#[derive(Default)]
pub struct Played {
    /// Rows of the host's requests in the order of their announcement.
    pub rows: Vec<Row>,
    /// Rows of the children.
    pub notes: Vec<Row>,
    /// By request: the events at which it was submitted and complete.
    pub began: BTreeMap<u64, u64>,
    pub ended: BTreeMap<u64, u64>,
    /// Tokens that reads returned.
    pub returned: BTreeMap<u64, Vec<u64>>,
    due: BinaryHeap<Reverse<(Nanos, u64, u64, bool)>>,
}

impl CompletionSink for Played {
    fn done(&mut self, row: &Row) {
        let is_read = row.op == Op::Read;
        let due = (row.completion, self.rows.len() as u64, row.id, is_read);
        self.due.push(Reverse(due));
        self.rows.push(*row);
    }

    fn note(&mut self, row: &Row) {
        self.notes.push(*row);
    }
}

/// The tokens that a request writes.
pub fn tokens(request: &Request) -> Vec<u64> {
    let blocks = u64::from(request.blocks());
    (0..blocks).map(|at| (request.id + 1) << 24 | at).collect()
}

/// Runs requests: at their arrivals, or with at most `depth` under way and each
/// `think` after a completion. With `keeps`, tokens are written and read back.
///
/// # Panics
/// If nothing is due but requests are incomplete, or if the model has an
/// implausible number of events.
pub fn play(
    model: &mut dyn Model,
    requests: &[Request],
    closed: Option<(usize, Nanos)>,
    keeps: bool,
) -> Played {
    let mut played = Played::default();
    let (mut next, mut done, mut now) = (0, 0, Nanos::ZERO);
    let mut from = Nanos::ZERO;
    for event in 1.. {
        assert!(event < 2000 * requests.len() as u64 + 10_000, "no end");
        let completion = played.due.peek().map(|Reverse(due)| due.0);
        let may = closed.is_none_or(|(depth, _)| next - done < depth);
        let arrival = requests.get(next).filter(|_| may).map(|request| {
            let closed = closed.map(|_| from.max(now));
            closed.unwrap_or(request.arrival)
        });
        let wake = model.next_event();
        let Some(at) = [completion, arrival, wake].into_iter().flatten().min() else {
            break;
        };
        assert!(at >= now, "time goes back from {now} to {at}");
        now = at;
        if completion == Some(now) {
            let Some(Reverse((_, _, id, is_read))) = played.due.pop() else { unreachable!() };
            done += 1;
            from = now + closed.map_or(Nanos::ZERO, |(_, think)| think);
            played.ended.insert(id, event);
            if keeps && is_read {
                let contents = model.contents().expect("it keeps contents");
                let returned = contents.take_read_data(id);
                played.returned.insert(id, returned);
            }
        } else if arrival == Some(now) {
            let mut request = requests[next].clone();
            request.arrival = now;
            if keeps && request.op == Op::Write {
                let contents = model.contents().expect("it keeps contents");
                contents.stage_write(&tokens(&request));
            }
            let depth = (next - played.rows.len()) as u32;
            let before = played.rows.len();
            played.began.insert(request.id, event);
            let id = request.id;
            model.submit(request, &mut played);
            next += 1;
            // Everything due before has been done, so that none but the new
            // one, or who waited for the same, is announced now.
            if let Some(own) = played.rows[before..].iter().find(|row| row.id == id) {
                assert_eq!(own.queue_depth, depth, "queue depth of {own:?}");
            }
        } else {
            model.wake(now, &mut played);
        }
    }
    let missing = requests.len() - played.rows.len();
    assert_eq!(missing, 0, "stuck: {missing} requests were never answered");
    played
}

/// Whether every block that was read is the newest version complete when the
/// read began, or one that was under way at the same time; and whether the
/// last is what the model holds now.
pub fn check_tokens(model: &mut dyn Model, requests: &[Request], played: &Played) {
    let mut versions: BTreeMap<u64, Vec<(u64, u64, u64)>> = BTreeMap::new();
    for request in requests.iter().filter(|request| request.op == Op::Write) {
        let times = (played.began[&request.id], played.ended[&request.id]);
        for (lbn, token) in each(&request.extents).zip(tokens(request)) {
            let of_block = versions.entry(lbn).or_default();
            of_block.push((times.0, times.1, token));
        }
    }
    let check = |lbn: u64, began: u64, ended: u64, token: u64, what: &dyn std::fmt::Debug| {
        let mut all = versions.get(&lbn).cloned().unwrap_or_default();
        all.push((0, 0, initial(lbn)));
        let complete = all.iter().filter(|version| version.1 < began);
        let newest = complete.map(|version| version.0).max().unwrap_or(0);
        let found = all.iter().find(|version| version.2 == token);
        let good = found.is_some_and(|found| found.1 >= newest && found.0 < ended);
        assert!(
            good,
            "block {lbn} of {what:?}: token {token:#x}, of {found:?}, is none of those that may \
             be read from {began} to {ended}: {all:x?}"
        );
    };
    for request in requests.iter().filter(|request| request.op == Op::Read) {
        let returned = &played.returned[&request.id];
        assert_eq!(returned.len() as u32, request.blocks());
        let (began, ended) = (played.began[&request.id], played.ended[&request.id]);
        for (lbn, token) in each(&request.extents).zip(returned) {
            check(lbn, began, ended, *token, &request);
        }
    }
    for lbn in 0..model.blocks() {
        let token = model.contents().expect("it keeps contents").token(lbn);
        check(lbn, u64::MAX - 1, u64::MAX, token, &"the end");
    }
}

/// A memory, which serves one request after another, with times in ns.
pub fn memory(device: u16, blocks: u64, latency: u64, block_time: u64) -> Box<dyn Model> {
    let memory =
        Memory { blocks, latency: Nanos(latency), block_time: Nanos(block_time), battery: true };
    let interface = Interface::default();
    Box::new(Station::new("memory", device, memory, Box::<Fcfs>::default(), interface))
}
