//! Mounting and unmounting, with errors.

use super::mounted::{Mounted, constant, export, may_mount};
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use sledsim_emulator::fuse::{FuseMount, Settings};
use sledsim_emulator::server::Server;
use std::ffi::CString;
use std::fs::{self, File, OpenOptions};
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

const BYTES: u64 = 1 << 20;

fn one(latency_ms: f64) -> Option<Mounted> {
    Mounted::folder(vec![export("d", constant(BYTES, latency_ms))])
}

fn is_mounted(point: &Path) -> bool {
    let text = fs::read_to_string("/proc/self/mounts").unwrap();
    text.lines().any(|line| line.split(' ').nth(1) == point.to_str())
}

/// A FUSE mount whose server has died.
fn dead(point: &Path, kind: &str) {
    let device = OpenOptions::new().read(true).write(true).open("/dev/fuse").unwrap();
    let fd = device.as_raw_fd();
    let options = format!("fd={fd},rootmode=40000,user_id=0,group_id=0");
    let options = CString::new(options).unwrap();
    mount("x", point, kind, MountFlags::empty(), options.as_c_str()).unwrap();
}

/// Waiting requests fail at once, and nothing stays mounted.
#[test]
fn unmounting_fails_the_requests_in_flight() {
    let Some(mut mounted) = one(240_000.0) else {
        return;
    };
    let point = mounted.mount.point().to_owned();
    let files = [mounted.open("d"), mounted.open("d")];
    thread::scope(|scope| {
        let clients = files.map(|file| scope.spawn(move || file.read_at(&mut [0; 512], 0)));
        let under_way = mounted.wait_for(2);
        let start = Instant::now();
        mounted.mount.stop();
        for client in clients {
            client.join().unwrap().unwrap_err();
        }
        assert_eq!(under_way, 2);
        assert!(start.elapsed() < Duration::from_secs(120), "not the four minutes");
    });
    assert!(!is_mounted(&point) && !mounted.mount.is_alive());
}

/// The second half of a write is dropped with the mount and the server, without
/// blocking.
#[test]
fn unmounting_fails_a_read_modify_write() {
    let Some(mounted) = one(240_000.0) else {
        return;
    };
    let path = mounted.mount.path_of("d");
    let file = OpenOptions::new().write(true).open(path).unwrap();
    let client = thread::spawn(move || file.write_at(&[1; 10], 5));
    assert_eq!(mounted.wait_for(1), 1);
    let start = Instant::now();
    let Mounted { mount, server, .. } = mounted;
    drop(server);
    drop(mount);
    client.join().unwrap().unwrap_err();
    assert!(start.elapsed() < Duration::from_secs(120), "not the four minutes");
}

#[test]
fn another_process_unmounts() {
    let Some(mut mounted) = one(0.0) else { return };
    let point = mounted.mount.point().to_owned();
    assert!(mounted.mount.is_alive());
    unmount(&point, UnmountFlags::empty()).unwrap();
    assert!(!mounted.mount.is_alive());

    // The file system mounted there now must not be unmounted.
    mount("x", &point, "tmpfs", MountFlags::empty(), None).unwrap();
    mounted.mount.stop();
    assert!(is_mounted(&point));
    unmount(&point, UnmountFlags::empty()).unwrap();
    assert!(!is_mounted(&point));
}

#[test]
fn a_covered_mount_is_not_unmounted() {
    let Some(mut mounted) = one(0.0) else { return };
    let point = mounted.mount.point().to_owned();
    mount("x", &point, "tmpfs", MountFlags::empty(), None).unwrap();
    assert!(!mounted.mount.is_alive());
    mounted.mount.stop();
    // Unmounting is by path: it would unmount the one above.
    assert!(File::create(point.join("it is the other")).is_ok());
    unmount(&point, UnmountFlags::empty()).unwrap();
    unmount(&point, UnmountFlags::empty()).unwrap();
    assert!(!is_mounted(&point));
}

#[test]
fn a_lazily_unmounted_mount_is_not_alive() {
    let Some(mounted) = one(0.0) else { return };
    let file = mounted.open("d");
    unmount(mounted.mount.point(), UnmountFlags::DETACH).unwrap();
    assert!(!mounted.mount.is_alive());
    // Open files work until the server ends.
    file.write_all_at(&[1; 512], 0).unwrap();
    let server = mounted.server;
    drop(mounted.mount);
    file.write_all_at(&[1; 512], 0).unwrap_err();
    drop(server);
}

#[test]
fn a_stale_mount_is_replaced() {
    if !may_mount() {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let point = place.path().join("with a blank");
    fs::create_dir(&point).unwrap();
    dead(&point, "fuse.sledsim");
    assert!(fs::metadata(&point).is_err());
    let server = Server::start(vec![export("d", constant(BYTES, 0.0))]).unwrap();
    let start = || FuseMount::start(&point, server.exports(), &Settings::default());
    let mount = start().unwrap();
    assert_eq!(fs::metadata(mount.path_of("d")).unwrap().len(), BYTES);
    drop(mount);
    assert!(!is_mounted(&point));

    // A stale mount of another program is kept.
    dead(&point, "fuse.other");
    let refused = start().err().unwrap().to_string();
    assert!(refused.contains("of another program"), "{refused}");
    unmount(&point, UnmountFlags::empty()).unwrap();
}

#[test]
fn bad_mount_points_are_refused() {
    if !may_mount() {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name);
    fs::create_dir(path("full")).unwrap();
    fs::write(path("full/x"), "x").unwrap();
    fs::write(path("text"), "x").unwrap();
    fs::create_dir(path("used")).unwrap();
    let server = Server::start(vec![export("d", constant(BYTES, 0.0))]).unwrap();
    let start = |path: &Path| FuseMount::start(path, server.exports(), &Settings::default());
    let _first = start(&path("used")).unwrap();
    for (name, problem) in [
        ("none", "mount point missing"),
        ("full", "is not empty"),
        ("text", "is not empty"),
        ("used", "is a mount point already, of a file system of type fuse.sledsim"),
    ] {
        let refused = start(&path(name)).err().unwrap().to_string();
        assert!(refused.contains(name) && refused.contains(problem), "{refused}");
    }
    let refused = start(Path::new("/dev/null")).err().unwrap().to_string();
    assert!(refused.contains("neither a folder nor a regular file"), "{refused}");

    let strange = Server::start(vec![export("a/b", constant(BYTES, 0.0))]).unwrap();
    fs::create_dir(path("empty")).unwrap();
    let refused = FuseMount::start(&path("empty"), strange.exports(), &Settings::default());
    let refused = refused.err().unwrap().to_string();
    assert!(refused.contains("'a/b'"), "{refused}");
}
