//! Results as bytes, for other processes and versions: a version, and then what postcard
//! makes of the type.

use super::Stats;
use super::streaming::OTHERS;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sledsim_base::error::{Error, Result};

/// The version of [`Stats`].
const VERSION: u8 = 2;

/// A value as bytes of a version.
pub(crate) fn to_bytes<T: Serialize>(version: u8, value: &T) -> Vec<u8> {
    postcard::to_extend(value, vec![version]).expect("memory takes all bytes")
}

/// Reads a sound value that [`to_bytes`] has written; `what` it is begins errors.
///
/// # Errors
/// Bytes of another version, or that are damaged.
pub(crate) fn from_bytes<T: DeserializeOwned>(
    what: &str,
    version: u8,
    bytes: &[u8],
    is_sound: impl FnOnce(&T) -> bool,
) -> Result<T> {
    let problem = match bytes.split_first() {
        None => "there are no bytes".to_owned(),
        Some((found, _)) if *found != version => {
            format!("the bytes have version {found}; must be {version}")
        }
        Some((_, rest)) => match postcard::take_from_bytes(rest) {
            Ok((value, [])) if is_sound(&value) => return Ok(value),
            _ => "the bytes are damaged".to_owned(),
        },
    };
    Err(Error::Key(format!("{what}: {problem}")))
}

impl Stats {
    /// All statistics, in a compact form that does not depend on how histograms are
    /// kept in memory.
    pub fn to_bytes(&self) -> Vec<u8> {
        to_bytes(VERSION, self)
    }

    /// Reads statistics that [`Stats::to_bytes`] has written.
    ///
    /// # Errors
    /// Bytes of another version, or that are damaged.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        from_bytes("statistics", VERSION, bytes, is_sound)
    }
}

/// Whether no distribution has more values than there were requests.
fn is_sound(stats: &Stats) -> bool {
    let mut requests = stats.by_op.iter().map(|of_op| of_op.requests);
    let Some(all) = requests.try_fold(0, u64::checked_add) else {
        return false;
    };
    stats.by_op.iter().all(|of_op| of_op.response.above_zero() <= of_op.requests)
        && stats.times.len() == OTHERS
        && stats.times.iter().all(|times| times.above_zero() <= all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use sledsim_base::request::Op;
    use sledsim_base::row::{Parts, Row, Status};
    use sledsim_base::units::Nanos;

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
        stats.by_op[0].response.record(5);
        assert_eq!(message(&stats.to_bytes()), "statistics: the bytes are damaged");
    }
}
