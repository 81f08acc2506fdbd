//! The file system: what creating, reading, appending and deleting do to blocks.

use super::buffers::{Buffers, Run};
use sledsim_base::error::{Error, Result};
use sledsim_base::request::Op;
use smallvec::SmallVec;
use std::mem::take;

/// Bytes of a block and of a fragment, and fragments of a block.
pub(super) const BLOCK: u32 = 8192;
pub(super) const FRAGMENT: u32 = 1024;
const FRAGMENTS: u32 = BLOCK / FRAGMENT;

/// The 12 blocks that an inode names: the longest file. Only there are parts of a block.
pub(super) const LONGEST: u32 = 12 * BLOCK;

/// Fragments of a group, 16 MiB, and its inodes, one for 4 KiB.
pub(super) const GROUP: u32 = 16 * 1024;
pub(super) const GROUP_INODES: u32 = 4096;

/// The first block of a group with inodes, and the first with data. Those before are for the
/// boot program, the superblock, its copy and the maps; nothing accesses them.
const INODES: u32 = 4;
const DATA: u32 = INODES + GROUP_INODES / INODES_IN_BLOCK;
pub(super) const GROUP_DATA: u32 = GROUP / FRAGMENTS - DATA;

/// Inodes of 128 bytes in a block, bytes of an entry of a directory, and by how many a
/// directory grows.
const INODES_IN_BLOCK: u32 = 64;
pub(super) const ENTRY: u32 = 16;
const CHUNK: u32 = 512;

/// The inode of the root directory; those of files follow. The number of an inode is also
/// the place of its entry.
pub(super) const ROOT: u32 = 2;

/// A file, or a free place for one, which has 0 bytes. Each part is a whole block, except
/// the last, which may have fewer fragments.
#[derive(Clone, Debug, Default)]
pub(super) struct File {
    pub(super) inode: u32,
    pub(super) bytes: u32,
    pub(super) parts: SmallVec<[Run; 3]>,
}

/// Cylinder groups, with all files in the root directory.
#[derive(Debug)]
pub(super) struct FileSystem {
    /// Whether each fragment is free for data.
    free: Box<[bool]>,
    /// By group, then by length: no such run of the group begins before this fragment.
    first: Box<[[u32; FRAGMENTS as usize + 1]]>,
    pub(super) buffers: Buffers,
    /// The root directory.
    directory: File,
}

impl FileSystem {
    /// `groups` empty groups, and a cache for so many fragments.
    pub(super) fn new(groups: u32, cache: u32) -> Self {
        let is_data = |at| at % GROUP >= DATA * FRAGMENTS;
        Self {
            free: (0..groups * GROUP).map(is_data).collect(),
            first: (0..groups).map(|group| [group * GROUP; _]).collect(),
            buffers: Buffers::new(cache),
            directory: File { inode: ROOT, ..File::default() },
        }
    }

    /// Creates a file of so many bytes; see [`FileSystem::write`].
    pub(super) fn create(&mut self, file: &mut File, bytes: u32, at_once: bool) -> Result<()> {
        let mut directory = take(&mut self.directory);
        self.read(&directory);
        // The inode before the entry that names it.
        self.change(inode_at(file.inode), true);
        if file.inode * ENTRY < directory.bytes {
            self.change(directory.parts[entry_part(file.inode)], true);
        } else {
            let bytes = directory.bytes + if directory.bytes < LONGEST { CHUNK } else { BLOCK };
            self.write(&mut directory, bytes, true)?;
            self.change(inode_at(ROOT), true);
        }
        self.directory = directory;
        self.write(file, bytes, at_once)
    }

    /// Finds a file by its name, and reads its inode; returns where its entry is.
    pub(super) fn open(&mut self, file: &File) -> Run {
        let parts = &self.directory.parts[..=entry_part(file.inode)];
        parts.iter().for_each(|run| self.buffers.read(*run));
        self.buffers.read(inode_at(file.inode));
        self.directory.parts[entry_part(file.inode)]
    }

    /// Reads an open file.
    pub(super) fn read(&mut self, file: &File) {
        file.parts.iter().for_each(|run| self.buffers.read(*run));
    }

    /// Deletes a file.
    pub(super) fn delete(&mut self, file: &mut File) {
        // The entry before the inode that it names, the inode before its blocks are free.
        let entry = self.open(file);
        self.change(entry, true);
        self.change(inode_at(file.inode), true);
        file.parts.drain(..).for_each(|run| self.release(run));
        file.bytes = 0;
    }

    /// Makes a file `bytes` long, and writes all its new data now, or full blocks alone.
    pub(super) fn write(&mut self, file: &mut File, bytes: u32, at_once: bool) -> Result<()> {
        for index in file.bytes / BLOCK..bytes.div_ceil(BLOCK) {
            let fragments = (bytes - index * BLOCK).div_ceil(FRAGMENT).min(FRAGMENTS);
            let old = file.parts.get(index as usize).copied();
            old.into_iter().for_each(|old| self.buffers.read(old));
            let run = match old {
                Some(old) if old.1 == fragments => old,
                _ => (self.allocate(file.inode, fragments)?, fragments),
            };
            old.filter(|old| *old != run).into_iter().for_each(|old| self.release(old));
            file.parts.truncate(index as usize);
            file.parts.push(run);
            let is_full = (index + 1) * BLOCK <= bytes;
            self.buffers.hold(run, (is_full || at_once).then_some(Op::Write));
        }
        file.bytes = bytes;
        self.change(inode_at(file.inode), false);
        Ok(())
    }

    /// Changes a part of a buffer, which is written now or later.
    fn change(&mut self, run: Run, now: bool) {
        self.buffers.read(run);
        self.buffers.hold(run, now.then_some(Op::Write));
    }

    /// Allocates the first run of so many free fragments in one block, in the group of an
    /// inode or the next group that has one.
    fn allocate(&mut self, inode: u32, fragments: u32) -> Result<u32> {
        let (home, groups) = (inode / GROUP_INODES, self.first.len() as u32);
        for group in (home..groups).chain(0..home) {
            let (first, end) = (&mut self.first[group as usize], (group + 1) * GROUP);
            let fits = |at: &u32| {
                let run = &self.free[*at as usize..][..fragments as usize];
                at % FRAGMENTS + fragments <= FRAGMENTS && !run.contains(&false)
            };
            let found = (first[fragments as usize]..=end - fragments).find(fits);
            first[fragments as usize] = found.unwrap_or(end);
            if let Some(at) = found {
                self.free[at as usize..][..fragments as usize].fill(false);
                return Ok(at);
            }
        }
        // The capacity is checked before a run.
        Err(Error::Request("the file system is full".to_owned()))
    }

    /// Makes a run free.
    fn release(&mut self, (at, fragments): Run) {
        self.buffers.forget(at);
        self.free[at as usize..][..fragments as usize].fill(true);
        let first = &mut self.first[(at / GROUP) as usize];
        first.iter_mut().for_each(|first| *first = (at / FRAGMENTS * FRAGMENTS).min(*first));
    }
}

/// The block of an inode.
fn inode_at(inode: u32) -> Run {
    let inside = INODES + inode % GROUP_INODES / INODES_IN_BLOCK;
    (inode / GROUP_INODES * GROUP + inside * FRAGMENTS, FRAGMENTS)
}

/// The part of the directory that has the entry of an inode.
fn entry_part(inode: u32) -> usize {
    (inode * ENTRY / BLOCK) as usize
}
