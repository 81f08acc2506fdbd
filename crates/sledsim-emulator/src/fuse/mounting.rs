//! Mounting and unmounting: directly as root, through `fusermount3` otherwise.

use super::Access;
use super::mountinfo::{self, Entry};
use crate::errno::Errno;
use rustix::mount::{MountFlags, UnmountFlags};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags};
use sledsim_base::error::{Error, Result};
use std::ffi::CString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, IoSliceMut, Read};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// File system type of mounts by this program.
const KIND: &str = "fuse.sledsim";

/// A valid mount point.
#[derive(Debug)]
pub(super) struct MountPoint {
    /// Its path without links.
    pub point: PathBuf,
    /// Whether it is a folder, else a regular file.
    pub is_folder: bool,
}

/// A mount by this program.
#[derive(Debug)]
pub(super) struct Mounted(Entry);

impl MountPoint {
    /// Checks `point`; removes a mount there whose server has died.
    pub(super) fn at(point: &Path) -> Result<Self> {
        let refuse = |problem: &dyn std::fmt::Display| Error::file(point, problem);
        // The kernel caches the attributes of a dead mount for a while; opening
        // contacts the server.
        let look = || {
            let about = fs::metadata(point)?;
            if about.is_dir() || about.is_file() {
                File::open(point)?;
            }
            Ok(about)
        };
        let mut about: io::Result<fs::Metadata> = look();
        if matches!(&about, Err(error) if error.kind() == ErrorKind::NotConnected) {
            remove_stale(point)?;
            about = look();
        }
        let about = about.map_err(|error| match error.kind() {
            ErrorKind::NotFound => refuse(
                &"mount point missing: give an empty folder or an empty file; make \
                  one with mkdir or touch",
            ),
            _ => refuse(&error),
        })?;
        let point_itself = point.canonicalize().map_err(|error| refuse(&error))?;
        if let Some(entry) = mountinfo::at(&point_itself).map_err(|error| refuse(&error))? {
            return Err(refuse(&format_args!(
                "is a mount point already, of a file system of type {}; unmount it first",
                entry.kind
            )));
        }
        let is_folder = about.is_dir();
        let empty = if is_folder {
            let mut entries = fs::read_dir(point).map_err(|error| refuse(&error))?;
            entries.next().is_none()
        } else if about.is_file() {
            about.len() == 0
        } else {
            return Err(refuse(
                &"is neither a folder nor a regular file, as a FUSE mount point must be",
            ));
        };
        if !empty {
            return Err(refuse(
                &"is not empty: what is in it would be hidden; take an empty folder or an empty \
                  file",
            ));
        }
        Ok(Self { point: point_itself, is_folder })
    }

    /// Mounts; returns the open FUSE device.
    pub(super) fn mount(&self, access: Access) -> Result<(OwnedFd, Mounted)> {
        let refuse = |problem: &dyn std::fmt::Display| Error::file(&self.point, problem);
        if !Path::new("/dev/fuse").exists() {
            return Err(refuse(
                &"cannot be mounted on: there is no /dev/fuse; load the module fuse, or give the \
                  container the device",
            ));
        }
        let device = match self.mount_directly(access) {
            Err(Errno::PERM | Errno::ACCESS) => self.mount_through_helper(access)?,
            Err(error) => {
                let error = io::Error::from(error);
                return Err(refuse(&format_args!("cannot be mounted on: {error}")));
            }
            Ok(device) => device,
        };
        let entry = mountinfo::at(&self.point).map_err(|error| refuse(&error))?;
        match entry.filter(|entry| entry.kind == KIND) {
            Some(entry) => Ok((device, Mounted(entry))),
            None => Err(refuse(&"was unmounted right after mounting")),
        }
    }

    /// Mounts as root by `mount(2)`.
    fn mount_directly(&self, access: Access) -> std::result::Result<OwnedFd, Errno> {
        let device = OpenOptions::new().read(true).write(true).open("/dev/fuse");
        let device = device.map_err(|error| crate::errno::errno_of(&error))?;
        let options = format!(
            "fd={},rootmode={},user_id={},group_id={},{}",
            device.as_raw_fd(),
            if self.is_folder { "40000" } else { "100000" },
            rustix::process::getuid().as_raw(),
            rustix::process::getgid().as_raw(),
            access.options(),
        );
        let options = CString::new(options).map_err(|_| Errno::INVAL)?;
        let flags = MountFlags::NODEV | MountFlags::NOSUID;
        rustix::mount::mount("sledsim", &self.point, KIND, flags, options.as_c_str())?;
        Ok(device.into())
    }

    /// Mounts as another user through `fusermount3`, which runs as root and sends the
    /// open device through the socket whose number is in its environment: here its
    /// standard input.
    fn mount_through_helper(&self, access: Access) -> Result<OwnedFd> {
        let refuse = |problem: &dyn std::fmt::Display| Error::file(&self.point, problem);
        let failed = |error: &io::Error| refuse(&format_args!("cannot be mounted on: {error}"));
        let (ours, theirs) = UnixStream::pair().map_err(|error| failed(&error))?;
        let mut helper = Command::new("fusermount3")
            .arg("-o")
            .arg(format!(
                "fsname=sledsim,subtype=sledsim,{}",
                access.options()
            ))
            .arg("--")
            .arg(&self.point)
            .env("_FUSE_COMMFD", "0")
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| match error.kind() {
                ErrorKind::NotFound => refuse(
                    &"cannot be mounted on: a user other than root needs fusermount3, of the package \
                      fuse3",
                ),
                _ => failed(&error),
            })?;
        let received = receive(&ours);
        let mut message = String::new();
        if let Some(stderr) = &mut helper.stderr {
            let _ = stderr.read_to_string(&mut message);
        }
        let _ = helper.wait();
        let received = received.map_err(|error| failed(&error))?;
        received.ok_or_else(|| refuse(&format_args!("cannot be mounted on: {}", message.trim())))
    }
}

/// Receives the device that the helper sends with one byte, if any.
fn receive(from: &UnixStream) -> io::Result<Option<OwnedFd>> {
    let mut byte = [0];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut buffers = [IoSliceMut::new(&mut byte)];
    let flags = RecvFlags::CMSG_CLOEXEC;
    rustix::io::retry_on_intr(|| rustix::net::recvmsg(from, &mut buffers, &mut control, flags))?;
    let mut sent = control.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut files) => files.next(),
        _ => None,
    });
    Ok(sent.next())
}

/// Removes the mount of a server that died ("Transport endpoint is not connected").
fn remove_stale(point: &Path) -> Result<()> {
    let refuse = |problem: &dyn std::fmt::Display| Error::file(point, problem);
    let parent = point.parent().filter(|path| path != &Path::new(""));
    let parent = parent.unwrap_or(Path::new(".")).canonicalize();
    let path =
        (parent.map_err(|error| refuse(&error))?).join(point.file_name().unwrap_or_default());
    match mountinfo::at(&path).map_err(|error| refuse(&error))? {
        Some(entry) if entry.kind == KIND => {
            Mounted(entry).unmount();
            Ok(())
        }
        _ => Err(refuse(&"is a stale FUSE mount of another program; unmount it first")),
    }
}

impl Mounted {
    /// Whether it is still the uppermost mount at its mount point.
    pub(super) fn is_there(&self) -> bool {
        matches!(mountinfo::at(&self.0.point), Ok(Some(entry)) if entry == self.0)
    }

    /// Unmounts. Later accesses to files still open fail.
    pub(super) fn unmount(&self) {
        let lazily = UnmountFlags::FORCE | UnmountFlags::DETACH;
        for how in [UnmountFlags::empty(), lazily] {
            // Unless the path has another mount by now.
            if !self.is_there() {
                return;
            }
            let done = rustix::mount::unmount(&self.0.point, how | UnmountFlags::NOFOLLOW);
            if done == Err(Errno::PERM) {
                let mut helper = Command::new("fusermount3");
                helper.args(["-u", "-z", "-q", "--"]).arg(&self.0.point);
                let _ = helper.stdin(Stdio::null()).stderr(Stdio::null()).status();
                return;
            }
        }
    }
}
