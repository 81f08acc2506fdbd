//! Items by number and lists, in memory that is used again.

/// Items by a number that is reused after removal, as is their memory.
pub(super) struct Slab<T> {
    entries: Vec<Option<Box<T>>>,
    unused: Vec<u32>,
    spare: Vec<Box<T>>,
}

impl<T: Default> Slab<T> {
    pub(super) fn new() -> Self {
        Self { entries: Vec::new(), unused: Vec::new(), spare: Vec::new() }
    }

    /// Adds an item, which the caller sets: it may be one that was there before.
    #[inline]
    pub(super) fn add(&mut self) -> (u32, &mut T) {
        let item = self.spare.pop().unwrap_or_default();
        let index = self.unused.pop().unwrap_or_else(|| {
            self.entries.push(None);
            self.entries.len() as u32 - 1
        });
        (index, self.entries[index as usize].insert(item))
    }

    #[inline]
    pub(super) fn get(&self, index: u32) -> Option<&T> {
        self.entries.get(index as usize)?.as_deref()
    }

    #[inline]
    pub(super) fn get_mut(&mut self, index: u32) -> Option<&mut T> {
        self.entries.get_mut(index as usize)?.as_deref_mut()
    }

    /// Takes an item out. [`Slab::reuse`] takes its memory back.
    #[inline]
    pub(super) fn remove(&mut self, index: u32) -> Option<Box<T>> {
        let item = self.entries.get_mut(index as usize)?.take();
        if item.is_some() {
            self.unused.push(index);
        }
        item
    }

    /// Takes back the memory of an item that was removed.
    #[inline]
    pub(super) fn reuse(&mut self, item: Box<T>) {
        self.spare.push(item);
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len() - self.unused.len()
    }
}

/// Lists whose memory is used again.
pub(super) struct Lists<T>(Vec<Vec<T>>);

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Copy> Lists<T> {
    /// A list of these items.
    #[inline]
    pub(super) fn list(&mut self, items: &[T]) -> Vec<T> {
        let mut list = self.0.pop().unwrap_or_default();
        list.extend_from_slice(items);
        list
    }

    /// Takes back the memory of a list.
    #[inline]
    pub(super) fn reuse(&mut self, mut list: Vec<T>) {
        list.clear();
        self.0.push(list);
    }
}
