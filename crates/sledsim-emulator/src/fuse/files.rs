//! The file system: the files of the mount and the operations of the kernel on them.

use super::reply::{DataReply, EmptyReply, Patch, WrittenReply, errno};
use crate::command::{Command, CommandKind};
use crate::errno::{Errno, errno_of};
use crate::export::Export;
use crate::timeline::Reply;
use fuser::{
    FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo, InitFlags,
    IoctlFlags, KernelConfig, LockOwner, OpenAccMode, OpenFlags, RenameFlags, ReplyAttr,
    ReplyCreate, ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyIoctl, ReplyLseek,
    ReplyOpen, ReplyStatfs, ReplyWrite, Request, TimeOrNow, WriteFlags,
};
use rustix::fs::FallocateFlags;
use sledsim_base::units::BLOCK_BYTES;
use std::ffi::OsStr;
use std::io;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime};

/// How long the kernel may cache names and attributes.
const CACHE_TIME: Duration = Duration::from_secs(1);

/// The most bytes of one request; the kernel's maximum.
const REQUEST_BYTES: u32 = 1 << 20;

/// The most requests in flight without a blocked caller, such as those of asynchronous
/// direct I/O.
const BACKGROUND: u16 = 1024;

/// `SEEK_DATA` and `SEEK_HOLE` of `lseek(2)`.
const SEEK_DATA: i32 = 3;
const SEEK_HOLE: i32 = 4;

/// A file of the mount: one export.
pub(super) struct File {
    pub export: Arc<Export>,
    /// Time of the last write, in nanoseconds since `Files::since`.
    written: AtomicU64,
}

/// The files of a mount.
pub(super) struct Files {
    /// In the order of the exports; one if the mount point is a file.
    files: Vec<File>,
    /// Whether the mount point is a folder.
    is_folder: bool,
    since: SystemTime,
    streams: Arc<AtomicU32>,
}

impl Files {
    pub(super) fn new<'a>(
        exports: impl Iterator<Item = &'a Arc<Export>>,
        is_folder: bool,
        streams: Arc<AtomicU32>,
    ) -> Self {
        let file =
            |export: &Arc<Export>| File { export: Arc::clone(export), written: AtomicU64::new(0) };
        Self { files: exports.map(file).collect(), is_folder, since: SystemTime::now(), streams }
    }

    /// Inode number of the first file: the root, folder or file, has number 1.
    fn first(&self) -> u64 {
        INodeNo::ROOT.0 + u64::from(self.is_folder)
    }

    fn file(&self, number: INodeNo) -> Result<&File, Errno> {
        let index = number.0.checked_sub(self.first()).ok_or(Errno::ISDIR)?;
        self.files.get(index as usize).ok_or(Errno::NOENT)
    }

    fn named(&self, folder: INodeNo, name: &OsStr) -> Result<INodeNo, Errno> {
        if !self.is_folder || folder != INodeNo::ROOT {
            return Err(Errno::NOTDIR);
        }
        let is_it = |file: &File| OsStr::new(file.export.name()) == name;
        let index = self.files.iter().position(is_it).ok_or(Errno::NOENT)?;
        Ok(INodeNo(self.first() + index as u64))
    }

    fn about(&self, number: INodeNo) -> Result<FileAttr, Errno> {
        let root = FileAttr {
            ino: number,
            size: 0,
            blocks: 0,
            atime: self.since,
            mtime: self.since,
            ctime: self.since,
            crtime: self.since,
            kind: FileType::Directory,
            perm: 0o500,
            nlink: 2,
            uid: rustix::process::getuid().as_raw(),
            gid: rustix::process::getgid().as_raw(),
            rdev: 0,
            blksize: 4096,
            flags: 0,
        };
        if self.is_folder && number == INodeNo::ROOT {
            return Ok(root);
        }
        let file = self.file(number)?;
        let written = self.since + Duration::from_nanos(file.written.load(Ordering::Relaxed));
        Ok(FileAttr {
            size: file.export.bytes(),
            blocks: file.export.store().allocated().div_ceil(512),
            mtime: written,
            ctime: written,
            kind: FileType::RegularFile,
            perm: if file.export.is_read_only() { 0o400 } else { 0o600 },
            nlink: 1,
            ..root
        })
    }

    fn open(&self, number: INodeNo, flags: OpenFlags) -> Result<FileHandle, Errno> {
        let file = self.file(number)?;
        if file.export.is_read_only() && flags.acc_mode() != OpenAccMode::O_RDONLY {
            return Err(Errno::ROFS);
        }
        let stream = self.streams.fetch_add(1, Ordering::Relaxed);
        Ok(FileHandle(stream.into()))
    }

    /// Writes `data`, or zeroes, to `bytes` bytes from `offset` on.
    fn change(&self, file: &File, change: Change<'_>, reply: Box<dyn Reply>) {
        let Change { offset, bytes, data, unmap, fua, stream } = change;
        let since = self.since.elapsed().unwrap_or_default();
        file.written.store(since.as_nanos() as u64, Ordering::Relaxed);
        let reads = Patch::reads(offset, bytes);
        if !reads.is_empty() {
            let patch = Patch {
                export: Arc::downgrade(&file.export),
                reads,
                data: data.map(<[u8]>::to_vec),
                offset,
                bytes,
                unmap,
                fua,
                stream,
                reply,
            };
            return Box::new(patch).send(Ok(Vec::new()));
        }
        let what = match data {
            Some(data) => CommandKind::Write(data),
            None => CommandKind::Zero { bytes, unmap },
        };
        file.export.submit(Command { what, offset, fua, stream }, reply);
    }
}

struct Change<'a> {
    offset: u64,
    bytes: u64,
    /// `None` for zeroes.
    data: Option<&'a [u8]>,
    /// Whether the space of zeroes may be deallocated.
    unmap: bool,
    fua: bool,
    stream: u32,
}

/// Checks `fallocate(2)` as block devices do: a range beyond the end is cut off, or
/// refused if the file would grow; space cannot be reserved.
fn allocation(mode: i32, offset: u64, length: u64, size: u64) -> Result<(bool, u64), Errno> {
    let mode = FallocateFlags::from_bits_retain(mode as u32);
    let keeps = mode.contains(FallocateFlags::KEEP_SIZE);
    let punches = match mode - FallocateFlags::KEEP_SIZE {
        FallocateFlags::PUNCH_HOLE if keeps => true,
        FallocateFlags::ZERO_RANGE => false,
        _ => return Err(Errno::OPNOTSUPP),
    };
    let inside = length.min(size.saturating_sub(offset));
    if inside == 0 || (inside < length && !keeps) {
        return Err(Errno::INVAL);
    }
    Ok((punches, inside))
}

/// `lseek(2)` with `SEEK_DATA` or `SEEK_HOLE`: there is a hole at the end of every file.
fn seek(export: &Export, offset: i64, whence: i32) -> Result<i64, Errno> {
    let size = export.bytes();
    let mut at = u64::try_from(offset).map_err(|_| Errno::NXIO)?;
    let wants_hole = match whence {
        SEEK_DATA => false,
        SEEK_HOLE => true,
        _ => return Err(Errno::INVAL),
    };
    if at >= size {
        return Err(Errno::NXIO);
    }
    while at < size {
        let (bytes, hole) = (export.store().extent(at, size - at)).map_err(|e| errno_of(&e))?;
        if hole == wants_hole {
            return Ok(at as i64);
        }
        at += bytes;
    }
    if wants_hole { Ok(size as i64) } else { Err(Errno::NXIO) }
}

/// The file system that the kernel calls. Requests after the files are gone fail.
pub(super) struct ExportFilesystem(pub Weak<Files>);

impl ExportFilesystem {
    fn files(&self) -> Result<Arc<Files>, Errno> {
        self.0.upgrade().ok_or(Errno::IO)
    }
}

/// Returns the value, or replies with the error.
macro_rules! or_refuse {
    ($reply:ident, $result:expr) => {
        match $result {
            Ok(value) => value,
            Err(error) => return $reply.error(errno(error)),
        }
    };
}

impl Filesystem for ExportFilesystem {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        // Ignores options that the kernel is too old for.
        let _ = config.set_max_write(REQUEST_BYTES);
        let _ = config.set_max_background(BACKGROUND);
        let _ = config.set_congestion_threshold(BACKGROUND);
        let _ = config.add_capabilities(InitFlags::FUSE_ASYNC_DIO);
        Ok(())
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let files = or_refuse!(reply, self.files());
        let found = files.named(parent, name).and_then(|number| files.about(number));
        let about = or_refuse!(reply, found);
        reply.entry(&CACHE_TIME, &about, Generation(0));
    }

    fn getattr(&self, _: &Request, number: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        let about = self.files().and_then(|files| files.about(number));
        let about = or_refuse!(reply, about);
        reply.attr(&CACHE_TIME, &about);
    }

    /// A device has a fixed size and mode; setting the same size again is accepted.
    fn setattr(
        &self,
        _: &Request,
        number: INodeNo,
        mode: Option<u32>,
        uid: Option<u32>,
        gid: Option<u32>,
        size: Option<u64>,
        _: Option<TimeOrNow>,
        _: Option<TimeOrNow>,
        _: Option<SystemTime>,
        _: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<fuser::BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let about = self.files().and_then(|files| files.about(number));
        let about = or_refuse!(reply, about);
        if mode.or(uid).or(gid).is_some() || size != Some(about.size) {
            return reply.error(fuser::Errno::EPERM);
        }
        reply.attr(&CACHE_TIME, &about);
    }

    fn open(&self, _: &Request, number: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        let opened = self.files().and_then(|files| files.open(number, flags));
        let handle = or_refuse!(reply, opened);
        let how = FopenFlags::FOPEN_DIRECT_IO
            | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES
            | FopenFlags::FOPEN_NOFLUSH;
        reply.opened(handle, how);
    }

    fn read(
        &self,
        _: &Request,
        number: INodeNo,
        handle: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let files = or_refuse!(reply, self.files());
        let export = &or_refuse!(reply, files.file(number)).export;
        let bytes = u64::from(size).min(export.bytes().saturating_sub(offset));
        if bytes == 0 {
            return reply.data(&[]);
        }
        let command =
            Command { what: CommandKind::Read(bytes), offset, fua: false, stream: handle.0 as u32 };
        export.submit(command, Box::new(DataReply(reply)));
    }

    fn write(
        &self,
        _: &Request,
        number: INodeNo,
        handle: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        flags: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let files = or_refuse!(reply, self.files());
        let file = or_refuse!(reply, files.file(number));
        let bytes = (data.len() as u64).min(file.export.bytes().saturating_sub(offset));
        if bytes == 0 {
            return reply.error(fuser::Errno::ENOSPC);
        }
        let change = Change {
            offset,
            bytes,
            data: Some(&data[..bytes as usize]),
            unmap: false,
            // O_SYNC includes O_DSYNC. The kernel sets them for RWF_SYNC and RWF_DSYNC, too.
            fua: flags.0 & libc::O_DSYNC != 0,
            stream: handle.0 as u32,
        };
        files.change(file, change, Box::new(WrittenReply(reply, bytes as u32)));
    }

    fn fsync(&self, _: &Request, number: INodeNo, handle: FileHandle, _: bool, reply: ReplyEmpty) {
        let files = or_refuse!(reply, self.files());
        let export = &or_refuse!(reply, files.file(number)).export;
        let command =
            Command { what: CommandKind::Flush, offset: 0, fua: false, stream: handle.0 as u32 };
        export.submit(command, Box::new(EmptyReply(reply)));
    }

    fn fallocate(
        &self,
        _: &Request,
        number: INodeNo,
        handle: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let files = or_refuse!(reply, self.files());
        let file = or_refuse!(reply, files.file(number));
        let allowed = allocation(mode, offset, length, file.export.bytes());
        let (unmap, bytes) = or_refuse!(reply, allowed);
        let change =
            Change { offset, bytes, data: None, unmap, fua: false, stream: handle.0 as u32 };
        files.change(file, change, Box::new(EmptyReply(reply)));
    }

    fn lseek(
        &self,
        _: &Request,
        number: INodeNo,
        _: FileHandle,
        offset: i64,
        whence: i32,
        reply: ReplyLseek,
    ) {
        let files = or_refuse!(reply, self.files());
        let export = &or_refuse!(reply, files.file(number)).export;
        let found = or_refuse!(reply, seek(export, offset, whence));
        reply.offset(found);
    }

    fn readdir(
        &self,
        _: &Request,
        number: INodeNo,
        _: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let files = or_refuse!(reply, self.files());
        if !files.is_folder || number != INodeNo::ROOT {
            return reply.error(fuser::Errno::ENOTDIR);
        }
        let dots = [".", ".."].map(|name| (INodeNo::ROOT.0, FileType::Directory, name));
        let names = (files.first()..)
            .zip(&files.files)
            .map(|(number, file)| (number, FileType::RegularFile, file.export.name()));
        for (next, (number, kind, name)) in (1..).zip(dots.into_iter().chain(names)) {
            if next > offset && reply.add(INodeNo(number), next, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn fsyncdir(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        reply.ok();
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        let files = or_refuse!(reply, self.files());
        let bytes: u64 = files.files.iter().map(|file| file.export.bytes()).sum();
        let count = files.files.len() as u64;
        let block = BLOCK_BYTES as u32;
        reply.statfs(bytes / BLOCK_BYTES, 0, 0, count, 0, block, 255, block);
    }

    fn mknod(&self, _: &Request, _: INodeNo, _: &OsStr, _: u32, _: u32, _: u32, reply: ReplyEntry) {
        reply.error(fuser::Errno::EPERM);
    }

    fn mkdir(&self, _: &Request, _: INodeNo, _: &OsStr, _: u32, _: u32, reply: ReplyEntry) {
        reply.error(fuser::Errno::EPERM);
    }

    fn create(
        &self,
        _: &Request,
        _: INodeNo,
        _: &OsStr,
        _: u32,
        _: u32,
        _: i32,
        reply: ReplyCreate,
    ) {
        reply.error(fuser::Errno::EPERM);
    }

    fn unlink(&self, _: &Request, _: INodeNo, _: &OsStr, reply: ReplyEmpty) {
        reply.error(fuser::Errno::EPERM);
    }

    fn rmdir(&self, _: &Request, _: INodeNo, _: &OsStr, reply: ReplyEmpty) {
        reply.error(fuser::Errno::EPERM);
    }

    fn rename(
        &self,
        _: &Request,
        _: INodeNo,
        _: &OsStr,
        _: INodeNo,
        _: &OsStr,
        _: RenameFlags,
        reply: ReplyEmpty,
    ) {
        reply.error(fuser::Errno::EPERM);
    }

    fn ioctl(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        _: IoctlFlags,
        _: u32,
        _: &[u8],
        _: u32,
        reply: ReplyIoctl,
    ) {
        reply.error(fuser::Errno::ENOTTY);
    }
}
