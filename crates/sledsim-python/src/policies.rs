//! Replacement policies written in Python.

use crate::error::SledsimError;
use crate::failure::Failure;
use pyo3::exceptions::PyException;
use pyo3::intern;
use pyo3::prelude::*;
use sledsim_base::error::Result;
use sledsim_core::compose::caches::{Directory, Policy, PolicySpec};
use sledsim_experiments::hits::HitsPolicy;

/// A policy as Python names it.
#[derive(FromPyObject)]
pub(crate) enum GivenPolicy {
    /// One of ours, with its keys.
    Label(String),
    /// One of Python's: its name, and what makes it for a number of slots.
    Python(String, Py<PyAny>),
}

impl GivenPolicy {
    /// The policy of a cache.
    pub(crate) fn spec(&self, failure: &Failure) -> Result<PolicySpec> {
        match self {
            Self::Label(label) => PolicySpec::named(label),
            Self::Python(name, make) => {
                let make = Python::attach(|py| make.clone_ref(py));
                let (named, failure) = (name.clone(), failure.clone());
                Ok(PolicySpec::new(name, &[], move |slots| {
                    Box::new(PythonPolicy::new(&named, &make, slots, failure.clone()))
                }))
            }
        }
    }

    /// The policy of hit ratios.
    pub(crate) fn of_hits(&self, failure: &Failure) -> Result<HitsPolicy> {
        match self {
            Self::Label(label) => HitsPolicy::named(label),
            Self::Python(..) => self.spec(failure).map(HitsPolicy::Policy),
        }
    }
}

/// A policy whose methods are Python's. No slot of its cache may be busy.
struct PythonPolicy {
    name: String,
    /// `hit`, `admit` and `evict`, unless making it failed.
    methods: Option<[Py<PyAny>; 3]>,
    /// By slot.
    keys: Vec<u64>,
    slots: Directory,
    /// Accesses that have ended.
    accesses: u64,
    failure: Failure,
}

impl PythonPolicy {
    fn new(name: &str, make: &Py<PyAny>, slots: u32, failure: Failure) -> Self {
        let methods = Python::attach(|py| {
            let policy = make.bind(py).call1((slots,))?;
            let names = [intern!(py, "hit"), intern!(py, "admit"), intern!(py, "evict")];
            let [hit, admit, evict] = names.map(|name| policy.getattr(name).map(Bound::unbind));
            Ok([hit?, admit?, evict?])
        });
        Self {
            name: name.to_owned(),
            methods: methods.map_err(|error| failure.set(error)).ok(),
            keys: vec![0; slots as usize],
            slots: Directory::with_capacity(slots as usize),
            accesses: 0,
            failure,
        }
    }

    /// Calls a method in the access to `key`; returns nothing if it failed, or another
    /// policy before.
    fn call<T>(
        &self,
        key: u64,
        work: impl FnOnce(Python<'_>, &[Py<PyAny>; 3]) -> PyResult<T>,
    ) -> Option<T> {
        let methods = self.methods.as_ref().filter(|_| !self.failure.is_some())?;
        Python::attach(|py| {
            let raised = match work(py, methods) {
                Ok(value) => return Some(value),
                Err(raised) => raised,
            };
            // What ends the program, such as a KeyboardInterrupt, stays as it is.
            if !raised.is_instance_of::<PyException>(py) {
                self.failure.set(raised);
                return None;
            }
            let (name, access) = (&self.name, self.accesses + 1);
            let what = raised.value(py);
            let kind = what.get_type().name().map(|name| name.to_string());
            let kind = kind.unwrap_or_default();
            let said = what.str().map(|text| text.to_string()).unwrap_or_default();
            let colon = if said.is_empty() { "" } else { ": " };
            let wrapped = SledsimError::new_err(format!(
                "policy {name}: access {access} (key {key}): {kind}{colon}{said}"
            ));
            wrapped.set_cause(py, Some(raised));
            self.failure.set(wrapped);
            None
        })
    }

    /// The slot of the key that `evict` returned.
    fn slot_of(&self, returned: &Bound<'_, PyAny>) -> std::result::Result<u32, String> {
        let shown = || returned.repr().map_or_else(|_| "?".to_owned(), |text| text.to_string());
        if returned.is_none() {
            return Err("None: must return the key to evict".to_owned());
        }
        let key: u64 = returned.extract().map_err(|_| {
            let kind = returned.get_type().name().map(|name| name.to_string());
            format!("{} ({}): must return a key", shown(), kind.unwrap_or_default())
        })?;
        self.slots.get(key).ok_or_else(|| format!("{}: is not in the cache", shown()))
    }

    /// Calls `evict`, and returns the slot of the key that goes.
    fn evicted(&self, key: u64) -> Option<u32> {
        let slot = self.call(key, |py, [_, _, evict]| {
            let returned = evict.call0(py)?;
            Ok(self.slot_of(returned.bind(py)))
        })?;
        slot.map_err(|problem| {
            let (name, access) = (&self.name, self.accesses + 1);
            self.failure.set(SledsimError::new_err(format!(
                "policy {name}: access {access} (key {key}): evict() returned {problem}"
            )));
        })
        .ok()
    }
}

impl Policy for PythonPolicy {
    fn insert(&mut self, slot: u32, key: u64) {
        self.keys[slot as usize] = key;
        self.slots.insert(key, slot);
        self.call(key, |py, [_, admit, _]| admit.call1(py, (key,)));
        self.accesses += 1;
    }

    fn touch(&mut self, slot: u32) {
        let key = self.keys[slot as usize];
        self.call(key, |py, [hit, ..]| hit.call1(py, (key,)));
        self.accesses += 1;
    }

    fn evict(&mut self, key: u64, evictable: &mut dyn FnMut(u32) -> bool) -> Option<u32> {
        let slot = self.evicted(key).filter(|slot| evictable(*slot))?;
        self.slots.remove(self.keys[slot as usize]);
        Some(slot)
    }

    fn remove(&mut self, slot: u32) {
        self.slots.remove(self.keys[slot as usize]);
    }
}
