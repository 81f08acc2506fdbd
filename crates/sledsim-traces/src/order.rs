//! Checks that times do not fall, or fall no further than a window.

use super::glitches::{GLITCH, at_place, is_far_above, ms};
use super::reader::Reader;
use super::record::Record;
use sledsim_base::error::Error;
use sledsim_base::units::Nanos;

/// The longest window to sort in, in ms: three years.
pub const LONGEST_SORT_MS: f64 = 1e11;

/// The records read after a late one, to find the window that sorts them all.
const LOOKAHEAD_RECORDS: u64 = 1 << 22;

/// Checks that times do not fall, or fall no further than a window.
#[derive(Default)]
pub struct Order {
    /// The most by which a time may be below the latest one so far.
    window: Nanos,
    /// The latest time so far.
    latest: Nanos,
    /// The number of times below the latest one so far.
    pub late: u64,
    /// The most by which a time was below the latest one.
    pub most_late: Nanos,
    /// The last jump ahead.
    jump: Option<Jump>,
    /// The number of records since that jump.
    since_jump: u64,
    /// The position of the first record that looks like a glitch.
    pub suspect: Option<String>,
}

/// A record whose time is far above the one before.
struct Jump {
    from: Nanos,
    /// An error at the record.
    place: Error,
}

/// The records after a late one.
struct Lookahead {
    /// The window that sorts all of them.
    need: Nanos,
    /// Whether they reach to the end of the file.
    whole: bool,
    /// The time of the next record.
    next: Option<Nanos>,
}

impl Order {
    /// Allows times to fall by up to `window`, if given.
    pub fn new(window: Option<Nanos>) -> Self {
        Self { window: window.unwrap_or_default(), ..Self::default() }
    }

    /// Records the time of the record that `reader` read last; false if it is
    /// more than the window below the latest one.
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
        self.record_late(time)
    }

    #[cold]
    fn jumped(&mut self, reader: &dyn Reader) {
        self.jump = Some(Jump { from: self.latest, place: reader.refuse(String::new()) });
        self.since_jump = 0;
    }

    #[cold]
    fn record_late(&mut self, time: Nanos) -> bool {
        let by = self.latest - time;
        if self.suspect.is_none()
            && let Some(jump) = self.glitch_before(time, 1)
        {
            self.suspect =
                Some(at_place(&jump.place, format!("{} ms", ms(self.latest))).to_string());
        }
        self.late += 1;
        self.most_late = self.most_late.max(by);
        self.since_jump += 1;
        by <= self.window
    }

    /// The last jump, if it was a glitch: only one record jumped, and `time` is
    /// back at the level before it. `counted` is the number of records since
    /// the jump in that case: the one that jumped, and the current one if it
    /// has been counted.
    fn glitch_before(&self, time: Nanos, counted: u64) -> Option<&Jump> {
        let back = |jump: &&Jump| !is_far_above(jump.from, time) && is_far_above(self.latest, time);
        self.jump.as_ref().filter(back).filter(|_| self.since_jump == counted)
    }

    /// The error about a record that was not admitted, with the option that
    /// would accept the whole file. Reads on in `reader`; only `wanted` records
    /// count.
    #[cold]
    pub fn too_late(
        &self,
        time: Nanos,
        reader: &mut dyn Reader,
        wanted: &mut dyn FnMut(&Record, &dyn Reader) -> bool,
    ) -> Error {
        let here = reader.refuse(String::new());
        let ahead = self.look_ahead(reader, wanted);
        let (at, latest, by) = (ms(time), ms(self.latest), ms(self.latest - time));
        let sort = ahead.sort();
        let drop =
            "give glitches = \"drop\" (--drop-glitches) to drop such requests and count them";
        if let Some(jump) = self.glitch_before(time, 2) {
            let problem = format!(
                "time {latest} ms is far above those of the requests around it (the next one is \
                 at {at} ms), as after a glitch of the clock: {drop}; else {sort}"
            );
            return at_place(&jump.place, problem);
        }
        if let Some(next) = ahead.next
            && is_far_above(self.latest, time)
            && is_far_above(next, time)
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

    fn look_ahead(
        &self,
        reader: &mut dyn Reader,
        wanted: &mut dyn FnMut(&Record, &dyn Reader) -> bool,
    ) -> Lookahead {
        let (mut latest, mut need, mut first) = (self.latest, self.most_late, None);
        for _ in 0..LOOKAHEAD_RECORDS {
            let Ok(Some(record)) = reader.next() else {
                let (whole, next) = (true, first);
                return Lookahead { need, whole, next };
            };
            if wanted(&record, &*reader) {
                first.get_or_insert(record.time);
                latest = latest.max(record.time);
                need = need.max(latest - record.time);
            }
        }
        Lookahead { need, whole: false, next: first }
    }
}

impl Lookahead {
    /// The advice on the window to give.
    fn sort(&self) -> String {
        let need = ms(self.need);
        if self.need.ms() > LONGEST_SORT_MS {
            return format!("no sort_ms (--sort) can help: it would take {need}");
        }
        let part = match self.whole {
            true => String::new(),
            false => format!(" (for the next {LOOKAHEAD_RECORDS} requests; more may follow)"),
        };
        format!("give sort_ms (--sort) of at least {need} to sort what is out of order{part}")
    }
}
