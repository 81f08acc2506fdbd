//! The requests in the device over time, from arrivals and completions alone.

use sledsim_base::units::Nanos;

/// Counts the requests in the device, each from its arrival to its completion, in constant
/// memory. Requests from a first one on count: those after a warm-up.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Occupancy {
    /// The number of the first request that counts.
    first: u64,
    /// How many in the device count, and the integral of that up to `since`, in ns.
    inside: u64,
    integral_ns: u128,
    since: Nanos,
    /// The arrivals that count, how many others they found in the device in sum, and the
    /// most that one found.
    arrivals: u64,
    found: u64,
    most_found: u64,
    /// The sum of the arrivals of those whose completion is not announced, in ns, modulo
    /// 2^64.
    unannounced_ns: u64,
}

impl Occupancy {
    /// Starts over: requests from number `first` on count.
    pub fn restart(&mut self, first: u64) {
        *self = Self { first, ..Self::default() };
    }

    /// A request that counts arrives and finds `found` others in the device.
    #[inline]
    pub(super) fn arrive(&mut self, now: Nanos, found: u64) {
        self.advance(now);
        self.inside += 1;
        self.arrivals += 1;
        self.found += found;
        self.most_found = self.most_found.max(found);
        self.unannounced_ns = self.unannounced_ns.wrapping_add(now.0);
    }

    /// The completion of a request that arrived at `arrival` is announced.
    #[inline]
    pub(super) fn announce(&mut self, id: u64, arrival: Nanos) {
        if id >= self.first {
            self.unannounced_ns = self.unannounced_ns.wrapping_sub(arrival.0);
        }
    }

    /// A request completes.
    #[inline]
    pub(super) fn complete(&mut self, id: u64, now: Nanos) {
        if id >= self.first {
            self.advance(now);
            self.inside -= 1;
        }
    }

    #[inline]
    fn advance(&mut self, now: Nanos) {
        self.integral_ns += u128::from(self.inside) * u128::from((now - self.since).0);
        self.since = now;
    }

    /// Takes out those that are in the device and were never announced: a run that is given
    /// up does not count them.
    pub(super) fn give_up(&mut self) {
        let until_now = self.inside.wrapping_mul(self.since.0);
        self.integral_ns -= u128::from(until_now.wrapping_sub(self.unannounced_ns));
        self.inside = 0;
    }

    /// The integral over time of the requests that count in the device, in ns.
    pub fn integral_ns(&self) -> u128 {
        self.integral_ns
    }

    /// The arrivals that count.
    pub fn arrivals(&self) -> u64 {
        self.arrivals
    }

    /// How many others were in the device at these arrivals, in sum.
    pub fn found(&self) -> u64 {
        self.found
    }

    /// The most that one of them found.
    pub fn most_found(&self) -> u64 {
        self.most_found
    }
}

#[cfg(test)]
mod tests {
    use super::Occupancy;
    use sledsim_base::random::Stream;
    use sledsim_base::units::Nanos;

    /// A request; its completion is announced at some time before.
    struct Listed {
        arrival: u64,
        announced: u64,
        completion: u64,
    }

    fn requests(random: &mut Stream) -> Vec<Listed> {
        let count = 1 + random.below(40);
        let mut arrival = random.below(1000);
        (0..count)
            .map(|_| {
                // Many at one instant.
                arrival += random.below(4);
                let announced = arrival + random.below(2) * random.below(12);
                Listed { arrival, announced, completion: announced + random.below(9) }
            })
            .collect()
    }

    /// Announces what is announced by `now`, and completes what is complete by then.
    fn pass(occupancy: &mut Occupancy, inside: &mut Vec<(u64, &Listed, bool)>, now: u64) {
        for (id, one, is_announced) in &mut *inside {
            if !*is_announced && one.announced <= now {
                occupancy.announce(*id, Nanos(one.arrival));
                *is_announced = true;
            }
        }
        inside.sort_by_key(|(_, one, _)| one.completion);
        inside.retain(|(id, one, is_announced)| {
            let is_complete = *is_announced && one.completion <= now;
            if is_complete {
                occupancy.complete(*id, Nanos(one.completion));
            }
            !is_complete
        });
    }

    /// Random loads, some of which start over on the way and some of which are given up at
    /// the last arrival.
    #[test]
    fn equals_a_count_of_intervals() {
        let mut random = Stream::new(1, "occupancy");
        for _ in 0..3000 {
            let all = requests(&mut random);
            let first = random.below(2) * random.below(all.len() as u64);
            let gives_up = random.chance(0.5);
            let mut occupancy = Occupancy::default();
            let mut inside = Vec::new();
            for (id, one) in (0..).zip(&all) {
                pass(&mut occupancy, &mut inside, one.arrival);
                if id == first && first > 0 {
                    occupancy.restart(first);
                }
                occupancy.arrive(Nanos(one.arrival), inside.len() as u64);
                inside.push((id, one, false));
                pass(&mut occupancy, &mut inside, one.arrival);
            }
            let end = if gives_up { all[all.len() - 1].arrival } else { u64::MAX };
            pass(&mut occupancy, &mut inside, end);
            // What is announced still completes.
            inside.retain(|(.., is_announced)| *is_announced);
            pass(&mut occupancy, &mut inside, u64::MAX);
            occupancy.give_up();

            let counted = &all[first as usize..];
            let served = counted.iter().filter(|one| one.announced <= end);
            let times = served.map(|one| u128::from(one.completion - one.arrival));
            assert_eq!(occupancy.integral_ns(), times.sum::<u128>());
            let found: Vec<u64> = (first as usize..all.len())
                .map(|id| {
                    let others = all[..id].iter();
                    others.filter(|one| one.completion > all[id].arrival).count() as u64
                })
                .collect();
            assert_eq!(occupancy.arrivals(), counted.len() as u64);
            assert_eq!(occupancy.found(), found.iter().sum::<u64>());
            assert_eq!(Some(occupancy.most_found()), found.into_iter().max());
        }
    }
}
