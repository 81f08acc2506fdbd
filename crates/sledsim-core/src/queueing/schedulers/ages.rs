//! Waiting requests by age.

use sledsim_base::units::Nanos;

/// No slot.
const NONE: u32 = u32::MAX;

/// Slots in the order of arrival, those of one instant in the order of pushing.
#[derive(Debug)]
pub(super) struct Ages {
    /// By slot.
    links: Vec<Link>,
    oldest: u32,
    youngest: u32,
}

#[derive(Clone, Copy, Debug)]
struct Link {
    arrival: Nanos,
    older: u32,
    younger: u32,
}

impl Default for Ages {
    fn default() -> Self {
        Self {
            links: Vec::new(),
            oldest: NONE,
            youngest: NONE,
        }
    }
}

impl Ages {
    /// Adds the slot of a request that arrived at `arrival`. Searches from the
    /// youngest: requests are pushed nearly in the order of arrival.
    pub fn push(&mut self, slot: u32, arrival: Nanos) {
        let (mut older, mut younger) = (self.youngest, NONE);
        while older != NONE && self.links[older as usize].arrival > arrival {
            (older, younger) = (self.links[older as usize].older, older);
        }
        let link = Link {
            arrival,
            older,
            younger,
        };
        match self.links.get_mut(slot as usize) {
            Some(own) => *own = link,
            None => self.links.push(link),
        }
        self.relink(older, younger, slot, slot);
    }

    /// Removes a slot.
    pub fn take(&mut self, slot: u32) {
        let Link { older, younger, .. } = self.links[slot as usize];
        self.relink(older, younger, younger, older);
    }

    /// Makes `next` follow `older`, and `previous` precede `younger`.
    fn relink(&mut self, older: u32, younger: u32, next: u32, previous: u32) {
        match older {
            NONE => self.oldest = next,
            _ => self.links[older as usize].younger = next,
        }
        match younger {
            NONE => self.youngest = previous,
            _ => self.links[younger as usize].older = previous,
        }
    }

    /// When the request in a slot arrived.
    pub fn arrival(&self, slot: u32) -> Nanos {
        self.links[slot as usize].arrival
    }

    /// The slots from the oldest on.
    pub fn oldest_first(&self) -> impl Iterator<Item = u32> + '_ {
        let some = |slot| (slot != NONE).then_some(slot);
        std::iter::successors(some(self.oldest), move |slot| {
            some(self.links[*slot as usize].younger)
        })
    }
}
