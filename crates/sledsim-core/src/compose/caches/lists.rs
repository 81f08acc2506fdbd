//! Lists of slots in the order of their use, linked through arrays.

/// No list, or the end of one.
const NONE: u32 = u32::MAX;

/// `N` lists of the numbers below a limit, each number in at most one list. All
/// operations take constant time and allocate nothing.
#[derive(Debug)]
pub(crate) struct Lists<const N: usize> {
    /// By number, then by list: the heads, whose `newer` is the oldest of the list.
    links: Vec<Link>,
    heads: u32,
    lens: [u32; N],
}

#[derive(Clone, Copy, Debug)]
struct Link {
    older: u32,
    newer: u32,
    list: u32,
}

impl<const N: usize> Lists<N> {
    /// Empty lists of the numbers below `limit`.
    pub fn new(limit: u32) -> Self {
        let free = Link { older: NONE, newer: NONE, list: NONE };
        let mut links = vec![free; limit as usize + N];
        for head in limit..limit + N as u32 {
            let list = head - limit;
            links[head as usize] = Link { older: head, newer: head, list };
        }
        Self { links, heads: limit, lens: [0; N] }
    }

    /// How many are in `list`.
    pub fn len(&self, list: usize) -> u32 {
        self.lens[list]
    }

    /// The list that holds `number`, which must be in one.
    pub fn list_of(&self, number: u32) -> usize {
        self.links[number as usize].list as usize
    }

    /// Puts `number`, which is in no list, at the new end of `list`.
    #[inline]
    pub fn push(&mut self, list: usize, number: u32) {
        debug_assert_eq!(self.links[number as usize].list, NONE, "in a list already");
        let head = self.heads + list as u32;
        let older = self.links[head as usize].older;
        self.links[number as usize] = Link { older, newer: head, list: list as u32 };
        self.links[older as usize].newer = number;
        self.links[head as usize].older = number;
        self.lens[list] += 1;
    }

    /// Takes `number` out of its list.
    #[inline]
    pub fn take(&mut self, number: u32) {
        let Link { older, newer, list } = self.links[number as usize];
        debug_assert_ne!(list, NONE, "in no list");
        self.links[older as usize].newer = newer;
        self.links[newer as usize].older = older;
        self.links[number as usize].list = NONE;
        self.lens[list as usize] -= 1;
    }

    /// Puts `number`, which is in a list, at the new end of `list`.
    #[inline]
    pub fn renew(&mut self, list: usize, number: u32) {
        self.take(number);
        self.push(list, number);
    }

    /// The oldest in `list`.
    #[inline]
    pub fn oldest(&self, list: usize) -> Option<u32> {
        self.newer(self.heads + list as u32)
    }

    /// The next newer one than `number` in its list.
    #[inline]
    pub fn newer(&self, number: u32) -> Option<u32> {
        let newer = self.links[number as usize].newer;
        (newer < self.heads).then_some(newer)
    }

    /// Reads what taking `numbers` out of their lists reads, for all at the same time
    /// (see [`Directory::fetch`](super::Directory::fetch)).
    #[inline]
    pub fn fetch(&self, numbers: &[u32]) {
        let link = |number: u32| self.links[number as usize];
        let own = (numbers.iter()).fold(0, |read, number| read ^ link(*number).older);
        std::hint::black_box(own);
        let beside = numbers.iter().map(|number| link(*number));
        // A number in no list has no neighbours.
        let last = self.links.len() - 1;
        let read = beside.fold(0, |read, Link { older, newer, .. }| {
            let links = [older, newer].map(|number| self.links[last.min(number as usize)]);
            read ^ links[0].older ^ links[1].older
        });
        std::hint::black_box(read);
    }

    /// Adds the oldest `count` in `list` to `to`.
    #[inline]
    pub fn add_oldest(&self, list: usize, count: usize, to: &mut Vec<u32>) {
        to.extend(self.iter(list).take(count));
    }

    /// Those in `list`, the oldest first.
    pub fn iter(&self, list: usize) -> impl Iterator<Item = u32> + '_ {
        std::iter::successors(self.oldest(list), |number| self.newer(*number))
    }
}
