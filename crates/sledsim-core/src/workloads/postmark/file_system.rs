//! The file system: what creating, reading, appending and deleting do to blocks.

use super::buffers::{Buffers, FRAGMENT_BLOCKS};
use super::groups::{FRAGMENTS, Groups, ROOT};
use sledsim_base::error::{Error, Result};
use sledsim_base::request::Op;
use smallvec::SmallVec;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Bytes of a block and of a fragment.
pub(super) const BLOCK: u32 = 8192;
pub(super) const FRAGMENT: u32 = BLOCK / FRAGMENTS;

/// Blocks that an inode names; further ones are named by an indirect block.
pub(super) const DIRECT: u32 = 12;

/// Bytes by which a directory grows, and of an entry: a name of 4 to 7 letters.
const CHUNK: u32 = 512;
const ENTRY: u32 = 16;

/// Where the superblock lies.
const SUPERBLOCK: u32 = FRAGMENTS;

/// When data of files are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DataWrites {
    /// A block at once when it is full, a part of one later.
    FullBlocks,
    /// When the file is closed.
    Close,
    /// Later.
    Delayed,
}

/// An inode with the addresses of its blocks. All but the last block are whole.
#[derive(Clone, Debug, Default)]
pub(super) struct Inode {
    number: u32,
    pub(super) bytes: u32,
    pub(super) blocks: SmallVec<[u32; 3]>,
}

impl Inode {
    /// The blocks of the device: the first of each part, and how many.
    pub(super) fn extents(&self) -> Vec<(u64, u32)> {
        let extent = |(index, at): (u32, &u32)| {
            let blocks = fragments_in(self.bytes, index) * FRAGMENT_BLOCKS;
            (u64::from(*at) * u64::from(FRAGMENT_BLOCKS), blocks)
        };
        (0..).zip(&self.blocks).map(extent).collect()
    }
}

/// A file: its inode, its directory, and the place of its entry there.
#[derive(Clone, Debug, Default)]
pub(super) struct File {
    pub(super) inode: Inode,
    directory: u32,
    entry: u32,
}

#[derive(Debug, Default)]
struct Directory {
    inode: Inode,
    indirect: u32,
    /// Entries that were ever used, and those of them that are free.
    end: u32,
    free: BinaryHeap<Reverse<u32>>,
}

/// A file system with an empty root directory.
#[derive(Debug)]
pub(super) struct FileSystem {
    pub(super) groups: Groups,
    pub(super) buffers: Buffers,
    /// The root is the first.
    directories: Vec<Directory>,
    data: DataWrites,
    /// Metadata are written at once where their order matters.
    is_synchronous: bool,
    /// The superblock was changed.
    is_changed: bool,
}

impl FileSystem {
    pub(super) fn new(
        groups: Groups,
        cache_fragments: u32,
        data: DataWrites,
        is_synchronous: bool,
    ) -> Result<Self> {
        let mut file_system = Self {
            groups,
            buffers: Buffers::new(cache_fragments),
            directories: Vec::new(),
            data,
            is_synchronous,
            is_changed: false,
        };
        let near = file_system.groups.start_of(0);
        let root = file_system.groups.allocate(near, 1).ok_or_else(full)?;
        let mut directory = Directory::new(ROOT);
        directory.inode.bytes = CHUNK;
        directory.inode.blocks.push(root);
        file_system.directories.push(directory);
        Ok(file_system)
    }

    /// Makes a directory in the root.
    pub(super) fn make_directory(&mut self) -> Result<()> {
        let mut root = std::mem::take(&mut self.directories[0]);
        self.scan(&root, root.end);
        let number = self.new_inode(self.groups.for_directory(), true)?;
        self.metadata(self.groups.inode_at(number), FRAGMENTS);
        self.metadata(self.groups.inode_at(ROOT), FRAGMENTS);
        let mut directory = Directory::new(number);
        self.grow_directory(&mut directory)?;
        self.enter(&mut root)?;
        self.directories[0] = root;
        self.directories.push(directory);
        Ok(())
    }

    /// Creates a file in a directory; without any, in the root.
    pub(super) fn create(&mut self, file: &mut File, directory: u32, bytes: u32) -> Result<()> {
        let mut parent = std::mem::take(&mut self.directories[directory as usize]);
        self.scan(&parent, parent.end);
        let number = self.new_inode(self.groups.of_inode(parent.inode.number), false)?;
        // The inode before the entry that names it.
        self.metadata(self.groups.inode_at(number), FRAGMENTS);
        file.entry = self.enter(&mut parent)?;
        self.directories[directory as usize] = parent;
        file.directory = directory;
        file.inode.number = number;
        file.inode.bytes = 0;
        file.inode.blocks.clear();
        self.write(file, bytes)
    }

    /// Opens a file and appends to it.
    pub(super) fn append(&mut self, file: &mut File, bytes: u32) -> Result<()> {
        self.open(file);
        let bytes = file.inode.bytes + bytes;
        self.write(file, bytes)
    }

    /// Opens a file and reads it.
    pub(super) fn read(&mut self, file: &File) {
        self.open(file);
        for (index, at) in (0..).zip(&file.inode.blocks) {
            self.buffers
                .read(*at, fragments_in(file.inode.bytes, index));
        }
        self.inode_later(file.inode.number);
    }

    /// Deletes a file.
    pub(super) fn delete(&mut self, file: &File) {
        let parent = std::mem::take(&mut self.directories[file.directory as usize]);
        self.scan(&parent, file.entry);
        // The entry before the inode that it names, the inode before its blocks are free.
        let (at, fragments) = parent.block_of(file.entry);
        self.metadata(at, fragments);
        self.inode_later(parent.inode.number);
        self.directories[file.directory as usize] = parent;
        self.directories[file.directory as usize]
            .free
            .push(Reverse(file.entry));
        self.metadata(self.groups.inode_at(file.inode.number), FRAGMENTS);
        for (index, at) in (0..).zip(&file.inode.blocks) {
            self.free(*at, fragments_in(file.inode.bytes, index));
        }
        self.groups.free_inode(file.inode.number);
        self.maps_later(self.groups.of_inode(file.inode.number));
        self.inode_later(file.inode.number);
    }

    /// Writes all that was delayed.
    pub(super) fn update(&mut self) {
        self.buffers.write_all();
        if std::mem::take(&mut self.is_changed) {
            self.buffers.request(Op::Write, SUPERBLOCK, FRAGMENTS);
        }
    }

    /// Finds a file by its name, and holds its inode.
    fn open(&mut self, file: &File) {
        let parent = std::mem::take(&mut self.directories[file.directory as usize]);
        self.scan(&parent, file.entry);
        self.directories[file.directory as usize] = parent;
        self.buffers
            .read(self.groups.inode_at(file.inode.number), FRAGMENTS);
    }

    /// Reads a directory from its start to an entry.
    fn scan(&mut self, directory: &Directory, entry: u32) {
        let last = (entry * ENTRY).min(directory.inode.bytes - 1) / BLOCK;
        for (index, at) in (0..=last).zip(&directory.inode.blocks) {
            if index == DIRECT {
                self.buffers.read(directory.indirect, FRAGMENTS);
            }
            self.buffers
                .read(*at, fragments_in(directory.inode.bytes, index));
        }
    }

    /// Takes the first free entry of a directory, and writes its block.
    fn enter(&mut self, directory: &mut Directory) -> Result<u32> {
        let entry = directory
            .free
            .pop()
            .map_or(directory.end, |Reverse(entry)| entry);
        directory.end = directory.end.max(entry + 1);
        if entry * ENTRY < directory.inode.bytes {
            let (at, fragments) = directory.block_of(entry);
            self.metadata(at, fragments);
            self.inode_later(directory.inode.number);
        } else {
            self.grow_directory(directory)?;
        }
        Ok(entry)
    }

    /// Adds a chunk to a directory; its data and its inode are written in this order.
    fn grow_directory(&mut self, directory: &mut Directory) -> Result<()> {
        let bytes = directory.inode.bytes + CHUNK;
        let index = directory.inode.bytes / BLOCK;
        if index == DIRECT && directory.indirect == 0 {
            let near = self.near(&directory.inode, index);
            directory.indirect = self.allocate(near, FRAGMENTS)?;
            self.buffers.fill(directory.indirect, FRAGMENTS);
            self.metadata(directory.indirect, FRAGMENTS);
        }
        let is_new_block = directory.inode.bytes.is_multiple_of(BLOCK);
        self.grow(&mut directory.inode, index, bytes)?;
        if index >= DIRECT && is_new_block {
            self.metadata(directory.indirect, FRAGMENTS);
        }
        let at = directory.inode.blocks[index as usize];
        directory.inode.bytes = bytes;
        self.metadata(at, fragments_in(bytes, index));
        self.metadata(self.groups.inode_at(directory.inode.number), FRAGMENTS);
        Ok(())
    }

    /// Makes a file `bytes` long and closes it.
    fn write(&mut self, file: &mut File, bytes: u32) -> Result<()> {
        let inode = &mut file.inode;
        let touched = inode.bytes / BLOCK..bytes.div_ceil(BLOCK);
        for index in touched.clone() {
            let end = bytes.min((index + 1) * BLOCK);
            self.grow(inode, index, end)?;
            inode.bytes = end;
            if self.data == DataWrites::FullBlocks && end.is_multiple_of(BLOCK) {
                self.buffers.write(inode.blocks[index as usize]);
            }
        }
        if self.data == DataWrites::Close {
            for index in touched {
                self.buffers.write(inode.blocks[index as usize]);
            }
        }
        self.inode_later(inode.number);
        Ok(())
    }

    /// Makes room for the bytes of block `index` up to `end`, which are then in a changed
    /// buffer.
    fn grow(&mut self, inode: &mut Inode, index: u32, end: u32) -> Result<()> {
        let (old, new) = (fragments_in(inode.bytes, index), fragments_in(end, index));
        let near = self.near(inode, index);
        if old == 0 {
            let at = self.allocate(near, new)?;
            inode.blocks.push(at);
        } else {
            let at = inode.blocks[index as usize];
            self.buffers.read(at, old);
            if new > old {
                inode.blocks[index as usize] = self.extend(at, old, new, near)?;
            }
        }
        self.buffers.fill(inode.blocks[index as usize], new);
        Ok(())
    }

    /// Makes `old` fragments `new` ones, in their place or in a free block; returns where.
    fn extend(&mut self, at: u32, old: u32, new: u32, near: u32) -> Result<u32> {
        if self.groups.extend(at, old, new) {
            self.maps_later(self.groups.of(at));
            return Ok(at);
        }
        // A whole block, so that the file can go on growing; the rest is free again.
        let to = self.allocate(near, FRAGMENTS)?;
        if new < FRAGMENTS {
            self.groups.free(to + new, FRAGMENTS - new);
        }
        self.free(at, old);
        Ok(to)
    }

    /// Where block `index` of a file should be: behind the one before it, the first in the
    /// group of the inode, and the first that the inode does not name elsewhere.
    fn near(&self, inode: &Inode, index: u32) -> u32 {
        let home = self.groups.of_inode(inode.number);
        if index == DIRECT {
            return self.groups.start_of(self.groups.for_more(home));
        }
        let before = index
            .checked_sub(1)
            .map(|before| inode.blocks[before as usize]);
        let next = before
            .map(|before| before + FRAGMENTS)
            .filter(|at| self.groups.has(*at));
        next.unwrap_or(self.groups.start_of(home))
    }

    fn allocate(&mut self, near: u32, fragments: u32) -> Result<u32> {
        let at = self.groups.allocate(near, fragments).ok_or_else(full)?;
        self.maps_later(self.groups.of(at));
        Ok(at)
    }

    fn free(&mut self, at: u32, fragments: u32) {
        self.buffers.forget(at);
        self.groups.free(at, fragments);
        self.maps_later(self.groups.of(at));
    }

    /// Allocates an inode.
    fn new_inode(&mut self, group: u32, is_directory: bool) -> Result<u32> {
        let inode = self
            .groups
            .allocate_inode(group, is_directory)
            .ok_or_else(full)?;
        self.maps_later(self.groups.of_inode(inode));
        Ok(inode)
    }

    fn maps_later(&mut self, group: u32) {
        self.is_changed = true;
        self.later(self.groups.maps_at(group), FRAGMENTS);
    }

    fn inode_later(&mut self, inode: u32) {
        self.later(self.groups.inode_at(inode), FRAGMENTS);
    }

    fn later(&mut self, at: u32, fragments: u32) {
        self.buffers.read(at, fragments);
        self.buffers.change(at);
    }

    /// Changes metadata whose order on the device matters.
    fn metadata(&mut self, at: u32, fragments: u32) {
        self.later(at, fragments);
        if self.is_synchronous {
            self.buffers.write(at);
        }
    }
}

impl Directory {
    /// Two entries name itself and its parent.
    fn new(number: u32) -> Self {
        let inode = Inode {
            number,
            ..Inode::default()
        };
        Self {
            inode,
            end: 2,
            ..Self::default()
        }
    }

    /// The block of an entry, and its fragments.
    fn block_of(&self, entry: u32) -> (u32, u32) {
        let index = entry * ENTRY / BLOCK;
        let fragments = fragments_in(self.inode.bytes, index);
        (self.inode.blocks[index as usize], fragments)
    }
}

/// How many fragments block `index` has in a file of so many bytes.
fn fragments_in(bytes: u32, index: u32) -> u32 {
    let inside = bytes.saturating_sub(index * BLOCK);
    inside.div_ceil(FRAGMENT).min(FRAGMENTS)
}

/// The capacity is checked before a run.
fn full() -> Error {
    Error::Request("the file system is full".to_owned())
}
