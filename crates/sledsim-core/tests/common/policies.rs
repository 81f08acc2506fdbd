//! Naive reference implementations of replacement policies, by key: vectors,
//! the oldest first, searched linearly.

use std::collections::VecDeque;

/// Whether a key may be evicted.
pub type MayGo<'a> = &'a dyn Fn(u64) -> bool;

/// A cache of a fixed number of keys.
pub trait Naive {
    /// Whether `key` is cached.
    fn has(&self, key: u64) -> bool;
    /// Handles a hit of `key`.
    fn hit(&mut self, key: u64);
    /// Handles a miss of `key`. If the cache is full, evicts an evictable key for
    /// it; without an evictable key, changes nothing and returns `Err`.
    fn miss(&mut self, key: u64, full: bool, may_go: MayGo<'_>) -> Result<Option<u64>, ()>;
    /// Removes the cached `key` for another reason.
    fn forget(&mut self, key: u64);
}

fn cut(list: &mut Vec<u64>, key: u64) -> bool {
    let before = list.len();
    list.retain(|other| *other != key);
    list.len() < before
}

fn first(list: &[u64], may_go: MayGo<'_>) -> Option<u64> {
    list.iter().copied().find(|key| may_go(*key))
}

/// Least recently used.
#[derive(Default)]
pub struct NaiveLru(Vec<u64>);

impl Naive for NaiveLru {
    fn has(&self, key: u64) -> bool {
        self.0.contains(&key)
    }

    fn hit(&mut self, key: u64) {
        cut(&mut self.0, key);
        self.0.push(key);
    }

    fn miss(&mut self, key: u64, full: bool, may_go: MayGo<'_>) -> Result<Option<u64>, ()> {
        let mut gone = None;
        if full {
            gone = Some(first(&self.0, may_go).ok_or(())?);
            self.0.retain(|other| Some(*other) != gone);
        }
        self.0.push(key);
        Ok(gone)
    }

    fn forget(&mut self, key: u64) {
        cut(&mut self.0, key);
    }
}

/// Arlitt et al. 1999: K = F + L, and L is the K evicted last. (The vector is
/// in the order of last use.)
#[derive(Default)]
pub struct NaiveLfuda {
    /// Key, F, K.
    list: Vec<(u64, u64, u64)>,
    age: u64,
}

impl Naive for NaiveLfuda {
    fn has(&self, key: u64) -> bool {
        self.list.iter().any(|item| item.0 == key)
    }

    fn hit(&mut self, key: u64) {
        let at = self.list.iter().position(|item| item.0 == key).unwrap();
        let (_, uses, _) = self.list.remove(at);
        self.list.push((key, uses + 1, uses + 1 + self.age));
    }

    fn miss(&mut self, key: u64, full: bool, may_go: MayGo<'_>) -> Result<Option<u64>, ()> {
        let mut gone = None;
        if full {
            let may = self.list.iter().filter(|item| may_go(item.0));
            let least = may.clone().map(|item| item.2).min().ok_or(())?;
            let item = *may.clone().find(|item| item.2 == least).unwrap();
            self.list.retain(|other| *other != item);
            self.age = self.age.max(item.2);
            gone = Some(item.0);
        }
        self.list.push((key, 1, 1 + self.age));
        Ok(gone)
    }

    fn forget(&mut self, key: u64) {
        self.list.retain(|item| item.0 != key);
    }
}

/// Priorities that add the age at each hit: MSST 2005 as printed, or
/// libCacheSim. All are halved periodically, so that they stay finite.
pub struct NaiveAges {
    /// Key, priority, whether it is set aside; the order is that of last use.
    list: Vec<(u64, f64, bool)>,
    age: f64,
    one: f64,
    /// Whether a hit adds one to the age.
    adds_one: bool,
}

impl NaiveAges {
    fn least(&self, beside: u64) -> Option<f64> {
        let others = self.list.iter().filter(|item| item.0 != beside && !item.2);
        others.map(|item| item.1).reduce(f64::min)
    }

    fn keep_finite(&mut self) {
        let halves = f64::powi(0.5, 100);
        if self.list.iter().any(|item| item.1 > f64::powi(2.0, 300)) {
            self.list.iter_mut().for_each(|item| item.1 *= halves);
            self.age *= halves;
            self.one *= halves;
        }
    }
}

impl Naive for NaiveAges {
    fn has(&self, key: u64) -> bool {
        self.list.iter().any(|item| item.0 == key)
    }

    fn hit(&mut self, key: u64) {
        let at = self.list.iter().position(|item| item.0 == key).unwrap();
        let (_, before, _) = self.list.remove(at);
        let mut aside = false;
        let mut now = before + self.age;
        if self.adds_one {
            now += self.one;
        } else if before == self.age
            && let Some(least) = self.least(key)
        {
            self.age = self.age.max(least);
            aside = now < self.age;
        }
        self.list.push((key, now, aside));
        self.keep_finite();
    }

    fn miss(&mut self, key: u64, full: bool, may_go: MayGo<'_>) -> Result<Option<u64>, ()> {
        let mut gone = None;
        if full {
            let mut order = self.list.clone();
            order.sort_by(|a, b| (a.2, a.1).partial_cmp(&(b.2, b.1)).unwrap());
            let (chosen, priority, _) = *order.iter().find(|item| may_go(item.0)).ok_or(())?;
            self.forget(chosen);
            self.age = self.age.max(priority);
            if !self.adds_one {
                self.age = self.age.max(self.least(chosen).unwrap_or(0.0));
            }
            gone = Some(chosen);
        }
        self.list.push((key, self.age + self.one, false));
        Ok(gone)
    }

    fn forget(&mut self, key: u64) {
        self.list.retain(|item| item.0 != key);
    }
}

/// libCacheSim's segments, the lowest first.
pub struct NaiveSegments {
    segments: Vec<Vec<u64>>,
    size: usize,
    /// Of the lowest: what is left.
    lowest: usize,
}

impl Naive for NaiveSegments {
    fn has(&self, key: u64) -> bool {
        self.segments.iter().any(|segment| segment.contains(&key))
    }

    fn hit(&mut self, key: u64) {
        let found = self.segments.iter().position(|s| s.contains(&key));
        let mut to = (found.unwrap() + 1).min(self.segments.len() - 1);
        self.forget(key);
        self.segments[to].push(key);
        while to > 0 && self.segments[to].len() > self.size {
            let down = self.segments[to].remove(0);
            to -= 1;
            self.segments[to].push(down);
        }
    }

    fn miss(&mut self, key: u64, full: bool, may_go: MayGo<'_>) -> Result<Option<u64>, ()> {
        let mut gone = None;
        if full {
            gone = Some(first(&self.segments.concat(), may_go).ok_or(())?);
            self.forget(gone.unwrap());
        }
        let room = |at: usize| if at == 0 { self.lowest } else { self.size };
        let lengths = self.segments.iter().map(Vec::len).enumerate();
        let to = lengths.clone().find(|(at, length)| *length < room(*at));
        self.segments[to.map_or(0, |found| found.0)].push(key);
        Ok(gone)
    }

    fn forget(&mut self, key: u64) {
        for segment in &mut self.segments {
            cut(segment, key);
        }
    }
}

/// Karedla et al. 1994.
pub struct NaiveSlru {
    pub probationary: Vec<u64>,
    pub protected: Vec<u64>,
    pub most_protected: usize,
}

impl Naive for NaiveSlru {
    fn has(&self, key: u64) -> bool {
        self.probationary.contains(&key) || self.protected.contains(&key)
    }

    fn hit(&mut self, key: u64) {
        self.forget(key);
        self.protected.push(key);
        if self.protected.len() > self.most_protected {
            self.probationary.push(self.protected.remove(0));
        }
    }

    fn miss(&mut self, key: u64, full: bool, may_go: MayGo<'_>) -> Result<Option<u64>, ()> {
        let mut gone = None;
        if full {
            let all = [&self.probationary[..], &self.protected[..]].concat();
            gone = Some(first(&all, may_go).ok_or(())?);
            self.forget(gone.unwrap());
        }
        self.probationary.push(key);
        Ok(gone)
    }

    fn forget(&mut self, key: u64) {
        cut(&mut self.probationary, key);
        cut(&mut self.protected, key);
    }
}

/// Megiddo and Modha 2003, Figure 4, case by case.
#[derive(Default)]
pub struct NaiveArc {
    pub c: usize,
    pub p: f64,
    pub t1: Vec<u64>,
    pub t2: Vec<u64>,
    pub b1: Vec<u64>,
    pub b2: Vec<u64>,
}

impl NaiveArc {
    /// The keys that repeated REPLACE(x, p) would evict, in order.
    fn replacements(&self, x_in_b2: bool, p: f64) -> Vec<u64> {
        let (mut t1, mut t2) = (self.t1.clone(), self.t2.clone());
        let mut order = Vec::new();
        while t1.len() + t2.len() > 0 {
            let size = t1.len() as f64;
            let from_t1 = !t1.is_empty() && (size > p || (x_in_b2 && size == p));
            let from = if from_t1 || t2.is_empty() { &mut t1 } else { &mut t2 };
            order.push(from.remove(0));
        }
        order
    }
}

impl Naive for NaiveArc {
    fn has(&self, key: u64) -> bool {
        self.t1.contains(&key) || self.t2.contains(&key)
    }

    fn hit(&mut self, key: u64) {
        // Case I.
        self.forget(key);
        self.t2.push(key);
    }

    fn miss(&mut self, x: u64, full: bool, may_go: MayGo<'_>) -> Result<Option<u64>, ()> {
        let (in_b1, in_b2) = (self.b1.contains(&x), self.b2.contains(&x));
        let (b1, b2) = (self.b1.len() as f64, self.b2.len() as f64);
        let mut p = self.p;
        if in_b1 {
            // Case II.
            let delta = if b1 >= b2 { 1.0 } else { b2 / b1 };
            p = (p + delta).min(self.c as f64);
        }
        if in_b2 {
            // Case III.
            let delta = if b2 >= b1 { 1.0 } else { b1 / b2 };
            p = (p - delta).max(0.0);
        }
        let gone = if full {
            let order = self.replacements(in_b2, p);
            Some(first(&order, may_go).ok_or(())?)
        } else {
            None
        };
        self.p = p;
        let mut remembered = true;
        if in_b1 || in_b2 {
            cut(&mut self.b1, x);
            cut(&mut self.b2, x);
        } else if self.t1.len() + self.b1.len() == self.c {
            // Case IV A.
            if self.t1.len() < self.c {
                self.b1.remove(0);
            } else {
                remembered = false;
            }
        } else if self.t1.len() + self.t2.len() + self.b1.len() + self.b2.len() == 2 * self.c {
            // Case IV B.
            self.b2.remove(0);
        }
        if let Some(gone) = gone {
            let (from, to) = if self.t1.contains(&gone) {
                (&mut self.t1, &mut self.b1)
            } else {
                (&mut self.t2, &mut self.b2)
            };
            cut(from, gone);
            if remembered {
                to.push(gone);
            }
        }
        if in_b1 || in_b2 {
            self.t2.push(x);
        } else {
            self.t1.push(x);
        }
        Ok(gone)
    }

    fn forget(&mut self, key: u64) {
        cut(&mut self.t1, key);
        cut(&mut self.t2, key);
    }
}

/// Yang et al. 2023, Algorithm 1. Heads are the backs of the queues.
#[derive(Default)]
pub struct NaiveS3Fifo {
    pub small_slots: usize,
    pub main_slots: usize,
    /// How many keys are remembered; with `fill`, the rules are libCacheSim's.
    pub ghosts: usize,
    pub fill: bool,
    pub evicted: bool,
    pub s: VecDeque<(u64, u8)>,
    pub m: VecDeque<(u64, u8)>,
    pub g: VecDeque<u64>,
}

impl NaiveS3Fifo {
    fn evict_s(&mut self, may_go: MayGo<'_>) -> Option<u64> {
        while let Some(at) = self.s.iter().position(|item| may_go(item.0)) {
            let (t, freq) = self.s.remove(at).unwrap();
            if freq > 1 {
                self.m.push_back((t, 0));
                if self.m.len() > self.main_slots && !self.fill {
                    let gone = self.evict_m(may_go);
                    if gone.is_some() {
                        return gone;
                    }
                }
            } else {
                self.g.push_back(t);
                while self.g.len() > self.ghosts {
                    self.g.pop_front();
                }
                return Some(t);
            }
        }
        None
    }

    fn evict_m(&mut self, may_go: MayGo<'_>) -> Option<u64> {
        while let Some(at) = self.m.iter().position(|item| may_go(item.0)) {
            let (t, freq) = self.m.remove(at).unwrap();
            if freq == 0 {
                return Some(t);
            }
            self.m.push_back((t, freq - 1));
        }
        None
    }
}

impl Naive for NaiveS3Fifo {
    fn has(&self, key: u64) -> bool {
        self.s.iter().chain(&self.m).any(|item| item.0 == key)
    }

    fn hit(&mut self, key: u64) {
        for item in self.s.iter_mut().chain(&mut self.m) {
            if item.0 == key {
                item.1 = (item.1 + 1).min(3);
            }
        }
    }

    fn miss(&mut self, key: u64, full: bool, may_go: MayGo<'_>) -> Result<Option<u64>, ()> {
        let (mut gone, mut returns) = (None, false);
        if full {
            if !self.s.iter().chain(&self.m).any(|item| may_go(item.0)) {
                return Err(());
            }
            self.evicted = true;
            if self.fill && self.g.contains(&key) {
                self.g.retain(|other| *other != key);
                returns = true;
            }
            while gone.is_none() {
                let free_in_s = self.s.iter().any(|item| may_go(item.0));
                let free_in_m = self.m.iter().any(|item| may_go(item.0));
                let wants_s = self.s.len() >= self.small_slots;
                gone = if free_in_s && (wants_s || !free_in_m) {
                    self.evict_s(may_go)
                } else {
                    self.evict_m(may_go)
                };
            }
        }
        let filling = self.fill && !self.evicted && self.s.len() >= self.small_slots;
        if returns || self.g.contains(&key) || filling {
            self.g.retain(|other| *other != key);
            self.m.push_back((key, 0));
        } else {
            self.s.push_back((key, 0));
        }
        Ok(gone)
    }

    fn forget(&mut self, key: u64) {
        self.s.retain(|item| item.0 != key);
        self.m.retain(|item| item.0 != key);
    }
}

/// Labels of policies with their keys at other values.
pub const VARIANTS: [&str; 6] = [
    "lfuda(age=each_access)",
    "lfuda(age=each_hit)",
    "slru(segments=1)",
    "slru(segments=3)",
    "slru(segments=4)",
    "s3fifo(fill=main)",
];

/// The naive reference of a policy with default keys, or of one of the
/// [`VARIANTS`].
pub fn naive(name: &str, slots: usize) -> Box<dyn Naive> {
    // Shares in whole numbers: eight tenths protected, one tenth small, nine
    // tenths remembered.
    let (protected, small) = (slots * 8 / 10, (slots / 10).max(1));
    let ages = |adds_one| NaiveAges { list: Vec::new(), age: 0.0, one: 1.0, adds_one };
    let segments = |count| NaiveSegments {
        segments: vec![Vec::new(); count],
        size: slots / count,
        lowest: slots - slots / count * (count - 1),
    };
    let s3fifo = |fill, ghosts| NaiveS3Fifo {
        small_slots: small,
        main_slots: slots - small,
        ghosts,
        fill,
        ..NaiveS3Fifo::default()
    };
    match name {
        "lru" => Box::<NaiveLru>::default(),
        "lfuda" => Box::<NaiveLfuda>::default(),
        "lfuda(age=each_access)" => Box::new(ages(true)),
        "lfuda(age=each_hit)" => Box::new(ages(false)),
        "slru" => Box::new(NaiveSlru {
            probationary: Vec::new(),
            protected: Vec::new(),
            most_protected: protected,
        }),
        "slru(segments=1)" => Box::<NaiveLru>::default(),
        "slru(segments=3)" => Box::new(segments(3)),
        "slru(segments=4)" => Box::new(segments(4)),
        "arc" => Box::new(NaiveArc { c: slots, ..NaiveArc::default() }),
        "s3fifo" => Box::new(s3fifo(false, slots - small)),
        "s3fifo(fill=main)" => Box::new(s3fifo(true, slots * 9 / 10)),
        other => panic!("{other} has no twin: write one"),
    }
}
