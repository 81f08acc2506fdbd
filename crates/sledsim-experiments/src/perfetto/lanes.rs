//! Lanes: tracks on which slices do not overlap.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Bound;

/// The lanes of one stream.
///
/// Of the lanes that are free, a request takes the one that became free last. If
/// requests come in the order of their ends, and none takes no time at all, this
/// needs the fewest lanes: as many as requests are ever under way at once.
#[derive(Debug, Default)]
pub struct Lanes {
    /// The tracks of the lanes.
    tracks: Vec<u64>,
    /// When each lane becomes free; of those free at one time the first comes last.
    free: BTreeMap<(u64, Reverse<usize>), ()>,
}

impl Lanes {
    /// The track of the lane for a request from `start` to `end`; `add` makes the
    /// track of another lane, given how many there are.
    pub fn take<E>(
        &mut self,
        start: u64,
        end: u64,
        add: impl FnOnce(usize) -> Result<u64, E>,
    ) -> Result<u64, E> {
        let until = Bound::Included((start, Reverse(0)));
        let found = (self.free.range((Bound::Unbounded, until))).next_back().map(|(&key, ())| key);
        let lane = match found {
            Some(key) => {
                self.free.remove(&key);
                key.1.0
            }
            None => {
                self.tracks.push(add(self.tracks.len())?);
                self.tracks.len() - 1
            }
        };
        self.free.insert((end, Reverse(lane)), ());
        Ok(self.tracks[lane])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    fn lanes_of(requests: &[(u64, u64)]) -> Vec<u64> {
        let mut lanes = Lanes::default();
        let take = |&(start, end): &(u64, u64)| {
            let lane = lanes.take(start, end, |n| Ok::<_, Infallible>(n as u64));
            lane.unwrap()
        };
        requests.iter().map(take).collect()
    }

    #[test]
    fn a_request_takes_the_lane_that_became_free_last() {
        assert_eq!(lanes_of(&[(0, 2), (1, 4), (4, 5), (2, 6)]), [0, 1, 1, 0]);
        assert_eq!(lanes_of(&[(0, 5), (4, 5), (5, 6), (5, 5)]), [0, 1, 0, 1]);
        assert_eq!(lanes_of(&[(3, 3), (3, 3), (3, 4)]), [0, 0, 0]);
    }

    #[test]
    fn there_are_no_more_lanes_than_requests_at_once() {
        let mut random = 1_u64;
        let mut next = |below: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (random >> 33) % below
        };
        for shortest in [0, 1].repeat(100) {
            let mut requests: Vec<(u64, u64)> = (0..40)
                .map(|_| {
                    let start = next(60);
                    (start, start + shortest + next(20))
                })
                .collect();
            requests.sort_by_key(|&(start, end)| (end, start));
            let found = lanes_of(&requests);
            let at_once = |at: u64| requests.iter().filter(|r| r.0 <= at && at < r.1).count();
            let most = (0..80).map(at_once).max().unwrap().max(1);
            let lanes = found.iter().max().map_or(0, |lane| *lane as usize + 1);
            assert!(lanes >= most && (lanes == most || shortest == 0));
            for (i, one) in requests.iter().enumerate() {
                for (j, other) in requests.iter().enumerate().skip(i + 1) {
                    let overlap = one.0 < other.1 && other.0 < one.1;
                    assert!(!overlap || found[i] != found[j]);
                }
            }
        }
    }
}
