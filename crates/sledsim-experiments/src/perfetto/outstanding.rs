//! The number of requests under way over time, sorted in constant memory.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Events that are sorted in memory at a time (8 MB).
const IN_MEMORY: usize = 1 << 19;
/// Bytes of an event in the temporary file.
const EVENT_BYTES: usize = 11;
/// Events of a run read back at a time.
const READ_EVENTS: usize = 1 << 11;

/// The arrival or completion of a request: time, device, and whether it arrived.
type Event = (u64, u16, bool);

/// Collects arrivals and completions in any order.
///
/// More than fit in memory go to a temporary file without a name, in sorted runs.
#[derive(Debug)]
pub struct Outstanding {
    events: Vec<Event>,
    most: usize,
    /// Where the temporary file goes; the system's folder if that is not possible.
    folder: PathBuf,
    spill: Option<File>,
    /// The bytes of each run in the file.
    runs: Vec<u64>,
}

impl Outstanding {
    /// None so far.
    pub fn new(folder: &Path) -> Self {
        Self {
            events: Vec::new(),
            most: IN_MEMORY,
            folder: folder.to_owned(),
            spill: None,
            runs: Vec::new(),
        }
    }

    /// Adds a request.
    pub fn add(&mut self, device: u16, arrival: u64, completion: u64) -> io::Result<()> {
        self.events.push((arrival, device, true));
        self.events.push((completion, device, false));
        if self.events.len() >= self.most {
            self.spill()?;
        }
        Ok(())
    }

    /// Writes what is in memory as a sorted run.
    fn spill(&mut self) -> io::Result<()> {
        self.events.sort_unstable();
        let mut file = match self.spill.take() {
            Some(file) => file,
            None => tempfile::tempfile_in(&self.folder).or_else(|_| tempfile::tempfile())?,
        };
        let mut bytes = Vec::with_capacity(self.events.len() * EVENT_BYTES);
        for (time, device, arrives) in self.events.drain(..) {
            bytes.extend(time.to_le_bytes());
            bytes.extend(device.to_le_bytes());
            bytes.push(u8::from(arrives));
        }
        file.write_all(&bytes)?;
        self.runs.push(bytes.len() as u64);
        self.spill = Some(file);
        Ok(())
    }

    /// Calls `each` with device, time and number of requests whenever the number of
    /// a device has changed, in the order of time.
    pub fn count<E: From<io::Error>>(
        mut self,
        mut each: impl FnMut(u16, u64, i64) -> Result<(), E>,
    ) -> Result<(), E> {
        self.events.sort_unstable();
        let (mut runs, mut start) = (Vec::new(), 0);
        for bytes in std::mem::take(&mut self.runs) {
            runs.push(SortedRun::new(start, start + bytes));
            start += bytes;
        }
        let mut heap = BinaryHeap::new();
        for (place, run) in runs.iter_mut().enumerate() {
            heap.extend((run.next(self.spill.as_mut())?).map(|event| Reverse((event, place))));
        }
        let own = runs.len();
        let mut held = self.events.into_iter();
        heap.extend(held.next().map(|event| Reverse((event, own))));
        let (mut counts, mut shown) = (Vec::<i64>::new(), Vec::<i64>::new());
        let mut last = None;
        let mut tell = |(time, device): (u64, u16), count: i64, shown: &mut Vec<i64>| {
            let shown = &mut shown[usize::from(device)];
            if *shown == count {
                return Ok(());
            }
            *shown = count;
            each(device, time, count)
        };
        while let Some(Reverse(((time, device, arrives), place))) = heap.pop() {
            let next = match runs.get_mut(place) {
                Some(run) => run.next(self.spill.as_mut())?,
                None => held.next(),
            };
            heap.extend(next.map(|event| Reverse((event, place))));
            if let Some(before) = last.replace((time, device))
                && before != (time, device)
            {
                tell(before, counts[usize::from(before.1)], &mut shown)?;
            }
            let device = usize::from(device);
            if counts.len() <= device {
                counts.resize(device + 1, 0);
                shown.resize(device + 1, 0);
            }
            counts[device] += if arrives { 1 } else { -1 };
        }
        last.map_or(Ok(()), |at| tell(at, counts[usize::from(at.1)], &mut shown))
    }
}

/// A sorted run in the temporary file.
struct SortedRun {
    next: u64,
    end: u64,
    bytes: Vec<u8>,
    /// How many of the bytes were taken.
    taken: usize,
}

impl SortedRun {
    fn new(start: u64, end: u64) -> Self {
        Self { next: start, end, bytes: Vec::new(), taken: 0 }
    }

    /// Its next event.
    fn next(&mut self, file: Option<&mut File>) -> io::Result<Option<Event>> {
        if self.taken == self.bytes.len() {
            let left = (self.end - self.next).min((READ_EVENTS * EVENT_BYTES) as u64);
            let Some(file) = file.filter(|_| left > 0) else {
                return Ok(None);
            };
            self.bytes.resize(left as usize, 0);
            file.seek(SeekFrom::Start(self.next))?;
            file.read_exact(&mut self.bytes)?;
            (self.next, self.taken) = (self.next + left, 0);
        }
        let (time, rest) = self.bytes[self.taken..].split_at(8);
        let time = u64::from_le_bytes(time.try_into().expect("8 bytes"));
        let (device, arrives) = (u16::from_le_bytes([rest[0], rest[1]]), rest[2] == 1);
        self.taken += EVENT_BYTES;
        Ok(Some((time, device, arrives)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(most: usize, requests: &[(u16, u64, u64)]) -> Vec<(u16, u64, i64)> {
        let mut outstanding = Outstanding::new(Path::new("/no/such/folder"));
        outstanding.most = most;
        for &(device, arrival, completion) in requests {
            outstanding.add(device, arrival, completion).unwrap();
        }
        let mut found = Vec::new();
        let each = |device, time, count| {
            found.push((device, time, count));
            Ok::<_, io::Error>(())
        };
        outstanding.count(each).unwrap();
        found
    }

    #[test]
    fn a_count_is_told_once_an_instant_and_only_if_it_changed() {
        let requests = [(0, 1, 5), (0, 5, 7), (0, 5, 5), (1, 5, 6)];
        let expected = [(0, 1, 1), (1, 5, 1), (1, 6, 0), (0, 7, 0)];
        assert_eq!(counted(IN_MEMORY, &requests), expected);
        assert_eq!(counted(IN_MEMORY, &[]), []);
    }

    #[test]
    fn runs_in_a_file_give_the_same() {
        let mut random = 7_u64;
        let mut next = |below: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (random >> 33) % below
        };
        let requests: Vec<_> = (0..5_000)
            .map(|_| {
                let (device, arrival) = (next(3) as u16, next(100_000));
                (device, arrival, arrival + next(500))
            })
            .collect();
        let expected = counted(IN_MEMORY, &requests);
        assert!(expected.len() > 5_000);
        for most in [2, 64, 9_998, 10_000] {
            assert_eq!(counted(most, &requests), expected, "{most} in memory");
        }
    }
}
