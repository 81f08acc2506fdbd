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

/// Type of the file systems that are ours.
const KIND: &str = "fuse.sledsim";

/// A place to mount on that is fit for it.
#[derive(Debug)]
pub(super) struct MountPoint {
    /// Without links.
    pub point: PathBuf,
    /// Else a regular file.
    pub is_folder: bool,
}

/// A mount of ours.
#[derive(Debug)]
pub(super) struct Mounted(Entry);

impl MountPoint {
    /// Looks at `point`; a mount there whose server has died is removed.
    pub(super) fn at(point: &Path) -> Result<Self> {
        let refuse = |problem: &dyn std::fmt::Display| Error::file(point, problem);
        // What the kernel remembers of a dead mount it tells for a while; opening asks the server.
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
                &"is not there: a FUSE mount point is an empty folder or an empty file; make it \
                  with mkdir or touch",
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
        Ok(Self {
            point: point_itself,
            is_folder,
        })
    }

    /// Mounts; the answer is the way to the kernel.
    pub(super) fn mount(&self, access: Access) -> Result<(OwnedFd, Mounted)> {
        let refuse = |problem: &dyn std::fmt::Display| Error::file(&self.point, problem);
        if !Path::new("/dev/fuse").exists() {
            return Err(refuse(
                &"cannot be mounted on: there is no /dev/fuse; load the module fuse, or give the \
                  container the device",
            ));
        }
        let way = match self.mount_directly(access) {
            Err(Errno::PERM | Errno::ACCESS) => self.mount_through_helper(access)?,
            Err(error) => {
                let error = io::Error::from(error);
                return Err(refuse(&format_args!("cannot be mounted on: {error}")));
            }
            Ok(way) => way,
        };
        let entry = mountinfo::at(&self.point).map_err(|error| refuse(&error))?;
        match entry.filter(|entry| entry.kind == KIND) {
            Some(entry) => Ok((way, Mounted(entry))),
            None => Err(refuse(&"was mounted on, and unmounted at once")),
        }
    }

    /// As root: `mount(2)`.
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

    /// As anybody: the helper is root, mounts, and hands over the device. It does so through the
    /// socket whose number is in its environment; here that is its standard input.
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
                    &"cannot be mounted on: without root that needs fusermount3, of the package \
                      fuse3",
                ),
                _ => failed(&error),
            })?;
        let received = receive(&ours);
        let mut said = String::new();
        if let Some(stderr) = &mut helper.stderr {
            let _ = stderr.read_to_string(&mut said);
        }
        let _ = helper.wait();
        let received = received.map_err(|error| failed(&error))?;
        received.ok_or_else(|| refuse(&format_args!("cannot be mounted on: {}", said.trim())))
    }
}

/// The device that the helper sends with one byte, if it does.
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

/// A server that died leaves its mount: "Transport endpoint is not connected".
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
        _ => Err(refuse(
            &"is a FUSE mount whose server has died, and not one of sledsim; unmount it first",
        )),
    }
}

impl Mounted {
    /// Whether it lies uppermost where it was mounted.
    pub(super) fn is_there(&self) -> bool {
        matches!(mountinfo::at(&self.0.point), Ok(Some(entry)) if entry == self.0)
    }

    /// Unmounts. If somebody still uses it, all that he does from now on fails.
    pub(super) fn unmount(&self) {
        let lazily = UnmountFlags::FORCE | UnmountFlags::DETACH;
        for how in [UnmountFlags::empty(), lazily] {
            // Else the path is somebody else's by now.
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
