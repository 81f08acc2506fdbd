//! The order of times: never falling, or sorted within a window.

use super::glitches::{GLITCH, at_place, far, ms};
use super::reader::Reader;
use super::record::Record;
use sledsim_base::error::Error;
use sledsim_base::units::Nanos;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// The longest window to sort in, in ms: three years.
pub const LONGEST_SORT_MS: f64 = 1e11;

/// So many records are read behind one that is late, to tell how late others
/// are.
const READ_ON: u64 = 1 << 22;

/// Checks that times do not fall, or fall no further than a window.
#[derive(Default)]
pub struct Order {
    /// How far a time may lie before the latest one so far.
    window: Nanos,
    /// The latest time so far.
    pub latest: Nanos,
    /// How many times lay before the latest one so far.
    pub late: u64,
    /// And how far at most.
    pub latest_by: Nanos,
    /// The last jump ahead, and how many records came since.
    jump: Option<Jump>,
    since_jump: u64,
    /// Where a record is whose clock seems to have jumped: the first one.
    pub suspect: Option<String>,
}

/// A record whose time lies far above the one before.
struct Jump {
    from: Nanos,
    /// An error at the record.
    place: Error,
}

/// What comes behind a record that is late.
struct Outlook {
    /// The window that sorts all of it.
    need: Nanos,
    /// Whether that is known of the whole file.
    whole: bool,
    /// The time of the next record.
    next: Option<Nanos>,
}

impl Order {
    /// Lets times fall by `window`, if there is one.
    #[must_use]
    pub fn new(window: Option<Nanos>) -> Self {
        Self {
            window: window.unwrap_or_default(),
            ..Self::default()
        }
    }

    /// Takes note of the next time, that of the record that `reader` read last;
    /// false if it lies too far back.
    #[inline]
    pub fn admit(&mut self, time: Nanos, reader: &dyn Reader) -> bool {
        if time >= self.latest {
            if time.0 - self.latest.0 > GLITCH.0 {
                self.jumped(reader);
            }
            self.since_jump += 1;
            self.latest = time;
            return true;
        }
        self.falls(time)
    }

    #[cold]
    fn jumped(&mut self, reader: &dyn Reader) {
        self.jump = Some(Jump {
            from: self.latest,
            place: reader.refuse(String::new()),
        });
        self.since_jump = 0;
    }

    #[cold]
    fn falls(&mut self, time: Nanos) -> bool {
        let by = self.latest - time;
        if self.suspect.is_none()
            && let Some(jump) = self.glitch_before(time, 1)
        {
            self.suspect =
                Some(at_place(&jump.place, format!("{} ms", ms(self.latest))).to_string());
        }
        self.late += 1;
        self.latest_by = self.latest_by.max(by);
        self.since_jump += 1;
        by <= self.window
    }

    /// The jump, if only the record before jumped and `time` is back where it
    /// came from. `counted` records came since the jump: the one that jumped,
    /// and that with `time` if it was counted.
    fn glitch_before(&self, time: Nanos, counted: u64) -> Option<&Jump> {
        let back = |jump: &&Jump| !far(jump.from, time) && far(self.latest, time);
        self.jump
            .as_ref()
            .filter(back)
            .filter(|_| self.since_jump == counted)
    }

    /// The error about a record with this `time` that was not admitted: what
    /// would mend the whole file. Reads on in `reader`, those records that are
    /// `wanted`.
    #[cold]
    pub fn too_late(
        &self,
        time: Nanos,
        reader: &mut dyn Reader,
        wanted: &mut dyn FnMut(&Record, &dyn Reader) -> bool,
    ) -> Error {
        let here = reader.refuse(String::new());
        let outlook = self.outlook(reader, wanted);
        let (at, latest, by) = (ms(time), ms(self.latest), ms(self.latest - time));
        let sort = outlook.sort();
        let drop =
            "give glitches = \"drop\" (--drop-glitches) to drop such requests and count them";
        if let Some(jump) = self.glitch_before(time, 2) {
            let problem = format!(
                "time {latest} ms is far above those of the requests around it (the next one is \
                 at {at} ms), as after a glitch of the clock: {drop}; else {sort}"
            );
            return at_place(&jump.place, problem);
        }
        if let Some(next) = outlook.next
            && far(self.latest, time)
            && far(next, time)
        {
            let problem = format!(
                "time {at} ms is far below those of the requests around it ({latest} and {} ms), \
                 as after a glitch of the clock: {drop}; else {sort}",
                ms(next)
            );
            return at_place(&here, problem);
        }
        let problem = match self.window {
            Nanos::ZERO => format!("time {at} ms is before {latest} ms, the request above: {sort}"),
            window => format!(
                "time {at} ms is {by} ms before one above, {latest} ms: sort_ms (--sort) is {}; \
                 {sort}",
                ms(window)
            ),
        };
        at_place(&here, problem)
    }

    fn outlook(
        &self,
        reader: &mut dyn Reader,
        wanted: &mut dyn FnMut(&Record, &dyn Reader) -> bool,
    ) -> Outlook {
        let (mut latest, mut need, mut first) = (self.latest, self.latest_by, None);
        for _ in 0..READ_ON {
            let Ok(Some(record)) = reader.next() else {
                let (whole, next) = (true, first);
                return Outlook { need, whole, next };
            };
            if wanted(&record, &*reader) {
                first.get_or_insert(record.time);
                latest = latest.max(record.time);
                need = need.max(latest - record.time);
            }
        }
        Outlook {
            need,
            whole: false,
            next: first,
        }
    }
}

impl Outlook {
    /// What window to give.
    fn sort(&self) -> String {
        let need = ms(self.need);
        if self.need.ms() > LONGEST_SORT_MS {
            return format!("no sort_ms (--sort) can help: it would take {need}");
        }
        let part = match self.whole {
            true => String::new(),
            false => format!(" (for the next {READ_ON} requests; more may follow)"),
        };
        format!("give sort_ms (--sort) of at least {need} to sort what is out of order{part}")
    }
}

/// So many items a sorter holds at most.
pub const MOST_HELD: usize = 1 << 20;

/// Sorts items by time; those of one time keep their order.
pub struct Sorter<T> {
    held: BinaryHeap<Held<T>>,
    count: u64,
}

/// Ordered so that the earliest is the greatest.
struct Held<T> {
    key: (Nanos, u64),
    item: T,
}

impl<T> Default for Sorter<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Sorter<T> {
    /// Holds nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self {
            held: BinaryHeap::new(),
            count: 0,
        }
    }

    /// Takes an item.
    ///
    /// # Errors
    /// There are too many.
    pub fn push(&mut self, time: Nanos, item: T) -> Result<(), String> {
        if self.held.len() == MOST_HELD {
            return Err(format!(
                "more than {MOST_HELD} requests within sort_ms (--sort): it must be less"
            ));
        }
        let count = self.count;
        self.count += 1;
        self.insert(time, count, item);
        Ok(())
    }

    /// Takes an item that goes among those of its time by its `rank`; any
    /// number of them.
    pub fn insert(&mut self, time: Nanos, rank: u64, item: T) {
        let key = (time, rank);
        self.held.push(Held { key, item });
    }

    /// The earliest item, if its time is `until` or before.
    pub fn pop(&mut self, until: Nanos) -> Option<T> {
        let due = self.held.peek()?.key.0 <= until;
        due.then(|| self.held.pop())?.map(|held| held.item)
    }
}

impl<T> PartialEq for Held<T> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl<T> Eq for Held<T> {}

impl<T> PartialOrd for Held<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Held<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        other.key.cmp(&self.key)
    }
}
