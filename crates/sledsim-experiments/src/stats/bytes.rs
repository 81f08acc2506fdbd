//! Statistics as bytes, for other processes and versions.

use super::Stats;
use super::streaming::Wait;
use sledsim_base::distribution::Distribution;
use sledsim_base::error::{Error, Result};
use sledsim_base::request::Op;
use sledsim_base::units::Nanos;
use sledsim_base::varint::{put, take};

/// The version of the form, its first byte.
const VERSION: u8 = 2;

impl Stats {
    /// All statistics, in a compact form that does not depend on how histograms are
    /// kept in memory.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![VERSION];
        for op in Op::ALL.map(|op| op as usize) {
            put(&mut bytes, self.requests[op]);
            put(&mut bytes, self.blocks[op]);
            self.response[op].write(&mut bytes);
        }
        put(&mut bytes, self.times.len() as u64);
        for times in &self.times {
            times.write(&mut bytes);
        }
        put(&mut bytes, self.served);
        put(&mut bytes, self.errors);
        put(&mut bytes, self.passes);
        put(&mut bytes, self.retries);
        put(&mut bytes, self.energy_nj);
        put(&mut bytes, self.unknown_energies);
        put(&mut bytes, self.outstanding_ns);
        put(&mut bytes, self.arrivals);
        put(&mut bytes, self.found);
        put(&mut bytes, self.most_found);
        put(&mut bytes, self.longest_wait.is_some());
        if let Some(wait) = &self.longest_wait {
            put(&mut bytes, wait.queue.0);
            put(&mut bytes, wait.arrival.0);
            put(&mut bytes, wait.id);
            put(&mut bytes, wait.op as u8);
            put(&mut bytes, wait.lbn);
            put(&mut bytes, wait.blocks);
        }
        put(&mut bytes, self.first_arrival.0);
        put(&mut bytes, self.last_completion.0);
        bytes
    }

    /// Reads statistics that [`Stats::to_bytes`] has written.
    ///
    /// # Errors
    /// Bytes of another version, or that are damaged.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        match bytes.split_first() {
            Some((&VERSION, mut rest)) => read(&mut rest)
                .filter(|stats| rest.is_empty() && is_sound(stats))
                .ok_or_else(|| Error::Key("statistics: the bytes are damaged".to_owned())),
            Some((version, _)) => Err(Error::Key(format!(
                "statistics: the bytes have version {version}; must be {VERSION}"
            ))),
            None => Err(Error::Key("statistics: there are no bytes".to_owned())),
        }
    }
}

fn read(bytes: &mut &[u8]) -> Option<Stats> {
    let mut stats = Stats::new();
    for op in Op::ALL.map(|op| op as usize) {
        stats.requests[op] = take(bytes)?;
        stats.blocks[op] = take(bytes)?;
        stats.response[op] = Distribution::read(bytes)?;
    }
    if take::<usize>(bytes)? != stats.times.len() {
        return None;
    }
    for times in &mut stats.times {
        *times = Distribution::read(bytes)?;
    }
    stats.served = take(bytes)?;
    stats.errors = take(bytes)?;
    stats.passes = take(bytes)?;
    stats.retries = take(bytes)?;
    stats.energy_nj = take(bytes)?;
    stats.unknown_energies = take(bytes)?;
    stats.outstanding_ns = take(bytes)?;
    stats.arrivals = take(bytes)?;
    stats.found = take(bytes)?;
    stats.most_found = take(bytes)?;
    if take::<u8>(bytes)? == 1 {
        stats.longest_wait = Some(Wait {
            queue: Nanos(take(bytes)?),
            arrival: Nanos(take(bytes)?),
            id: take(bytes)?,
            op: *Op::ALL.get(take::<usize>(bytes)?)?,
            lbn: take(bytes)?,
            blocks: take(bytes)?,
        });
    }
    stats.first_arrival = Nanos(take(bytes)?);
    stats.last_completion = Nanos(take(bytes)?);
    Some(stats)
}

/// Whether no distribution has more values than there were requests.
fn is_sound(stats: &Stats) -> bool {
    let sum = |sum: u64, requests: &u64| sum.checked_add(*requests);
    let Some(all) = stats.requests.iter().try_fold(0, sum) else {
        return false;
    };
    let mut by_op = stats.response.iter().zip(stats.requests);
    by_op.all(|(times, requests)| times.above_zero() <= requests)
        && stats.times.iter().all(|times| times.above_zero() <= all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use sledsim_base::row::{Parts, Row, Status};

    fn row() -> impl Strategy<Value = Row> {
        let times = (any::<u32>(), 0_u64..1 << 40, 0_u64..1 << 20);
        (0_usize..4, any::<bool>(), times, any::<u32>()).prop_map(
            |(op, failed, (arrival, queue, seek), blocks)| Row {
                id: u64::from(arrival),
                op: Op::ALL[op],
                status: if failed { Status::Error } else { Status::Ok },
                arrival: Nanos(u64::from(arrival)),
                start: Nanos(u64::from(arrival) + queue),
                completion: Nanos(u64::from(arrival) + queue + seek),
                lbn: queue,
                blocks,
                passes: blocks % 3,
                retries: blocks % 5,
                queue_depth: blocks % 7,
                energy_nj: queue,
                parts: Parts { queue: Nanos(queue), seek: Nanos(seek), ..Parts::default() },
                ..Row::default()
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

        #[test]
        fn statistics_are_as_they_were(rows in prop::collection::vec(row(), 0..60)) {
            let mut stats = Stats::new();
            for row in &rows {
                stats.record(row);
            }
            let bytes = stats.to_bytes();
            prop_assert_eq!(Stats::from_bytes(&bytes).unwrap(), stats);
            for end in 0..bytes.len() {
                prop_assert!(Stats::from_bytes(&bytes[..end]).is_err());
            }
        }

        /// The reader ends with an error or statistics that can be asked.
        #[test]
        fn any_bytes_are_read_or_refused(mut bytes in prop::collection::vec(any::<u8>(), 1..400)) {
            bytes[0] = VERSION;
            if let Ok(stats) = Stats::from_bytes(&bytes) {
                stats.cdf("response_time", None).unwrap();
            }
        }
    }

    #[test]
    fn other_versions_are_refused() {
        let mut bytes = Stats::new().to_bytes();
        bytes.push(0);
        let message = |bytes: &[u8]| Stats::from_bytes(bytes).unwrap_err().to_string();
        assert_eq!(message(&bytes), "statistics: the bytes are damaged");
        bytes[0] = 1;
        assert_eq!(message(&bytes), "statistics: the bytes have version 1; must be 2");
        assert_eq!(message(&[]), "statistics: there are no bytes");
        // More values than requests.
        let mut stats = Stats::new();
        stats.response[0].record(5);
        assert_eq!(message(&stats.to_bytes()), "statistics: the bytes are damaged");
    }
}
