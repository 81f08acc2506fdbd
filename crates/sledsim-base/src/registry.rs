//! Registries: the entries of one kind, found by name.

use std::fmt::{self, Debug};

/// An entry of a registry.
pub trait Named: 'static {
    /// Its name in keys and results.
    fn name(&self) -> &'static str;
}

/// Entries of one kind, in listing order.
///
/// A crate extends the registry of a crate it depends on by
/// [`Registry::over`].
pub struct Registry<T: 'static> {
    below: Option<&'static Self>,
    entries: &'static [T],
}

impl<T> Clone for Registry<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Registry<T> {}

impl<T: Named> Debug for Registry<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

impl<T: Named> Registry<T> {
    /// A registry of these.
    pub const fn new(entries: &'static [T]) -> Self {
        let below = None;
        Self { below, entries }
    }

    /// A registry of the entries of `below`, followed by these.
    pub const fn over(below: &'static Self, entries: &'static [T]) -> Self {
        let below = Some(below);
        Self { below, entries }
    }

    /// The entries.
    pub fn iter(self) -> impl Iterator<Item = &'static T> + Clone {
        let mut parts = vec![self.entries];
        let mut at = self.below;
        while let Some(registry) = at {
            parts.push(registry.entries);
            at = registry.below;
        }
        parts.into_iter().rev().flatten()
    }

    /// Their names.
    pub fn names(self) -> impl Iterator<Item = &'static str> + Clone {
        self.iter().map(T::name)
    }

    /// The entry of that name.
    pub fn get(self, name: &str) -> Option<&'static T> {
        self.iter().find(|entry| entry.name() == name)
    }

    /// Names and entries, as [`Keys::choice`](crate::keys::Keys::choice) takes them.
    pub fn choices(self) -> Vec<(&'static str, T)>
    where
        T: Clone,
    {
        self.iter().map(|entry| (entry.name(), entry.clone())).collect()
    }
}
