//! Exports as files: FUSE.
//!
//! Mounted on a folder, each export is a file in it; mounted on a regular
//! file, that file is the first export. Every access goes to the device, none
//! to the page cache. A write that covers a block in part makes the device read
//! that block first. Files cannot be mapped shared into memory.
//!
//! In reading order:
//!
//! * `mountinfo`: the list of mounts.
//! * `mounting`: mounts and unmounts.
//! * `files`: the operations of the kernel on the files.
//! * `reply`: answers to the kernel.

mod files;
mod mountinfo;
mod mounting;
mod reply;

use crate::front_end::Exports;
use files::{ExportFilesystem, Files};
use fuser::{Config, Session, SessionACL};
use mounting::{MountPoint, Mounted};
use sledsim_base::error::{Error, Result};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Which users may access the files, besides the user of the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Access {
    /// None.
    #[default]
    Owner,
    /// Root, with its programs and loop devices. A server of another user needs
    /// `user_allow_other` in `/etc/fuse.conf`.
    Root,
    /// All users, as the mode of the files permits; the same applies.
    All,
}

impl Access {
    /// The options of `mount(8)`; the session restricts `Root` to root.
    fn options(self) -> String {
        let others = if self == Self::Owner { "" } else { ",allow_other" };
        format!("default_permissions{others}")
    }
}

/// Settings of a mount.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Which users may access the files.
    pub access: Access,
    /// Number of threads that handle requests.
    pub threads: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self { access: Access::Owner, threads: 2 }
    }
}

/// The longest wait for the end of a session.
const PATIENCE: Duration = Duration::from_secs(2);

/// Exports mounted as files; unmounted when dropped.
pub struct FuseMount {
    place: MountPoint,
    mounted: Mounted,
    files: Option<Arc<Files>>,
    session: Option<JoinHandle<()>>,
}

impl FuseMount {
    /// Mounts `exports` on `point`: an empty folder, in which each is a file of its
    /// name, or an empty file, which becomes the first of them. A stale mount of a
    /// server that died there is unmounted first.
    ///
    /// # Errors
    /// A mount point that is missing, not empty or in use, an export whose name is no
    /// valid file name, or a failure to mount.
    pub fn start(point: &Path, exports: &Arc<Exports>, settings: &Settings) -> Result<Self> {
        let place = MountPoint::at(point)?;
        let refuse = |problem: String| Error::file(point, problem);
        if place.is_folder {
            let cannot = |name: &str| {
                matches!(name, "" | "." | "..") || name.contains(['/', '\0']) || name.len() > 255
            };
            if let Some(export) = exports.iter().find(|export| cannot(export.name())) {
                let name = export.name();
                return Err(refuse(format!("export '{name}': no file can have that name")));
            }
        } else if exports.iter().next().is_none() {
            return Err(refuse("there is no export to serve".into()));
        }
        let shown = if place.is_folder { usize::MAX } else { 1 };
        let files =
            Arc::new(Files::new(exports.iter().take(shown), place.is_folder, exports.streams()));
        let (device, mounted) = place.mount(settings.access)?;
        let session = match session(device, &files, settings) {
            Ok(session) => session,
            Err(error) => {
                mounted.unmount();
                return Err(refuse(format!("cannot be served: {error}")));
            }
        };
        Ok(Self { place, mounted, files: Some(files), session: Some(session) })
    }

    /// Path of the export called `name`.
    pub fn path_of(&self, name: &str) -> PathBuf {
        if self.place.is_folder { self.place.point.join(name) } else { self.place.point.clone() }
    }

    /// The mount point.
    pub fn point(&self) -> &Path {
        &self.place.point
    }

    /// Whether it is still mounted: no other process has unmounted it.
    pub fn is_alive(&self) -> bool {
        let serves = |session: &JoinHandle<()>| !session.is_finished();
        self.session.as_ref().is_some_and(serves) && self.mounted.is_there()
    }

    /// Unmounts; accesses to files still open fail from now on.
    pub fn stop(&mut self) {
        let Some(session) = self.session.take() else {
            return;
        };
        self.mounted.unmount();
        self.files = None;
        let end = Instant::now() + PATIENCE;
        while !session.is_finished() && Instant::now() < end {
            thread::sleep(Duration::from_millis(1));
        }
        // Unmounted without root while in use: the session ends when the last file is
        // closed.
        if session.is_finished() {
            let _ = session.join();
        }
    }
}

impl Drop for FuseMount {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Initializes the session with the kernel and serves it in a thread.
fn session(
    device: std::os::fd::OwnedFd,
    files: &Arc<Files>,
    settings: &Settings,
) -> std::io::Result<JoinHandle<()>> {
    let mut config = Config::default();
    config.n_threads = Some(settings.threads.max(1));
    let acl = match settings.access {
        Access::Owner => SessionACL::Owner,
        Access::Root => SessionACL::RootAndOwner,
        Access::All => SessionACL::All,
    };
    let filesystem = ExportFilesystem(Arc::downgrade(files));
    let session = Session::from_fd(filesystem, device, acl, config)?;
    let serve = move || {
        // However the session ends, the mount is dead then.
        let _ = session.run();
    };
    thread::Builder::new().name("sledsim-fuse".into()).spawn(serve)
}
