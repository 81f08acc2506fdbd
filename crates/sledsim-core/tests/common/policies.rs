//! Replacement policies written down naively, by key: vectors, the oldest first,
//! searched from one end to the other.

use std::collections::VecDeque;

/// Whether a key may be given up.
pub type MayGo<'a> = &'a dyn Fn(u64) -> bool;

/// A cache of so many keys.
pub trait Naive {
    /// Whether `key` is there.
    fn has(&self, key: u64) -> bool;
    /// `key` is there and asked for.
    fn hit(&mut self, key: u64);
    /// `key` is not there and comes. If the cache is full, one that may go is
    /// given up for it; if none may, nothing happens and the answer is `Err`.
    fn miss(&mut self, key: u64, full: bool, may_go: MayGo<'_>) -> Result<Option<u64>, ()>;
    /// `key` is there and goes for another reason.
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

/// Arlitt et al. 1999: K = F + L, and L is the K given up last. (The order of
/// the vector is that of last use.)
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
    /// Whom a row of REPLACE(x, p) would give up, one after the other.
    fn replacements(&self, x_in_b2: bool, p: f64) -> Vec<u64> {
        let (mut t1, mut t2) = (self.t1.clone(), self.t2.clone());
        let mut order = Vec::new();
        while t1.len() + t2.len() > 0 {
            let size = t1.len() as f64;
            let from_t1 = !t1.is_empty() && (size > p || (x_in_b2 && size == p));
            let from = if from_t1 || t2.is_empty() {
                &mut t1
            } else {
                &mut t2
            };
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
                if self.m.len() > self.main_slots {
                    let gone = self.evict_m(may_go);
                    if gone.is_some() {
                        return gone;
                    }
                }
            } else {
                self.g.push_back(t);
                while self.g.len() > self.main_slots {
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
        let mut gone = None;
        if full {
            if !self.s.iter().chain(&self.m).any(|item| may_go(item.0)) {
                return Err(());
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
        if let Some(at) = self.g.iter().position(|other| *other == key) {
            self.g.remove(at);
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

/// The naive twin of a policy with its keys at their defaults.
pub fn naive(name: &str, slots: usize) -> Box<dyn Naive> {
    // Shares in whole numbers: eight tenths protected, one tenth small.
    let (protected, small) = (slots * 8 / 10, (slots / 10).max(1));
    match name {
        "lru" => Box::<NaiveLru>::default(),
        "lfuda" => Box::<NaiveLfuda>::default(),
        "slru" => Box::new(NaiveSlru {
            probationary: Vec::new(),
            protected: Vec::new(),
            most_protected: protected,
        }),
        "arc" => Box::new(NaiveArc {
            c: slots,
            ..NaiveArc::default()
        }),
        "s3fifo" => Box::new(NaiveS3Fifo {
            small_slots: small,
            main_slots: slots - small,
            ..NaiveS3Fifo::default()
        }),
        other => panic!("{other} has no twin: write one"),
    }
}
