//! Attributes of the files, and unsupported operations.

use super::mounted::{Mounted, constant, export};
use rustix::fs::statvfs;
use rustix::io::Errno;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, symlink};
use std::thread;
use std::time::{Duration, Instant};

const BYTES: u64 = 1 << 20;

fn errno<T>(result: io::Result<T>) -> Option<Errno> {
    result.err().and_then(|error| Errno::from_io_error(&error))
}

fn two() -> Option<Mounted> {
    let mut protected = export("b", constant(2 * BYTES, 0.0));
    protected.read_only = true;
    Mounted::folder(vec![export("a", constant(BYTES, 0.0)), protected])
}

#[test]
fn a_folder_lists_each_export() {
    let Some(mounted) = two() else { return };
    let folder = mounted.place.path().join("mnt");
    let mut names: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["a", "b"]);
    let (a, b) = (fs::metadata(folder.join("a")), fs::metadata(folder.join("b")));
    let (a, b) = (a.unwrap(), b.unwrap());
    assert!(a.is_file() && b.is_file());
    assert_eq!((a.len(), b.len()), (BYTES, 2 * BYTES));
    assert_eq!((a.mode() & 0o777, b.mode() & 0o777), (0o600, 0o400));
    assert_eq!((a.uid(), a.blocks()), (rustix::process::getuid().as_raw(), 0));
    let whole = statvfs(&folder).unwrap();
    assert_eq!(whole.f_blocks * whole.f_frsize, 3 * BYTES);
    assert_eq!((whole.f_bfree, whole.f_files), (0, 2));
    assert_eq!(errno(fs::metadata(folder.join("c"))), Some(Errno::NOENT));

    // Each has its own data.
    mounted.open("a").write_all_at(&[1; 4096], 0).unwrap();
    let mut first = [9];
    File::open(folder.join("b")).unwrap().read_exact_at(&mut first, 0).unwrap();
    assert_eq!(first, [0]);
}

#[test]
fn a_file_mount_is_the_first_export() {
    let Some(mut mounted) = Mounted::file(vec![export("d", constant(BYTES, 0.0))]) else {
        return;
    };
    let path = mounted.place.path().join("disk").canonicalize().unwrap();
    assert_eq!(mounted.mount.path_of("d"), path);
    assert_eq!(fs::metadata(&path).unwrap().len(), BYTES);
    let file = mounted.open("d");
    file.write_all_at(b"sled", 1000).unwrap();
    let mut read = [0; 4];
    file.read_exact_at(&mut read, 1000).unwrap();
    assert_eq!(&read, b"sled");
    assert!(fs::metadata(&path).unwrap().blocks() > 0);
    drop(file);
    mounted.mount.stop();
    assert_eq!(fs::metadata(&path).unwrap().len(), 0);
}

#[test]
fn writing_updates_the_times() {
    let Some(mounted) = two() else { return };
    let file = mounted.open("a");
    let modified = || file.metadata().unwrap().modified().unwrap();
    let before = modified();
    thread::sleep(Duration::from_millis(1100)); // the kernel believes it so long
    assert_eq!(modified(), before);
    file.write_all_at(&[1; 512], 0).unwrap();
    let end = Instant::now() + Duration::from_secs(120);
    while modified() == before {
        assert!(Instant::now() < end, "it stays as it was");
        thread::sleep(Duration::from_millis(10));
    }
    assert!(modified() > before);
}

#[test]
fn size_and_mode_cannot_be_changed() {
    let Some(mounted) = two() else { return };
    let folder = mounted.place.path().join("mnt");
    let (a, new) = (folder.join("a"), folder.join("new"));
    let perm = Some(Errno::PERM);
    assert_eq!(errno(File::create(&new)), perm);
    assert_eq!(errno(fs::create_dir(&new)), perm);
    assert_eq!(errno(fs::remove_file(&a)), perm);
    assert_eq!(errno(fs::rename(&a, &new)), perm);
    assert_eq!(errno(fs::hard_link(&a, &new)), perm);
    assert_eq!(errno(symlink(&a, &new)), perm);
    assert_eq!(errno(File::create(&a)), perm); // truncates
    let file = mounted.open("a");
    assert_eq!(errno(file.set_len(0)), perm);
    assert_eq!(errno(file.set_len(BYTES + 1)), perm);
    file.set_len(BYTES).unwrap();
    assert_eq!(fs::metadata(&a).unwrap().len(), BYTES);
}

#[test]
fn a_read_only_export_is_not_opened_for_writing() {
    let Some(mounted) = two() else { return };
    let path = mounted.mount.path_of("b");
    let open = OpenOptions::new().write(true).open(&path);
    assert_eq!(errno(open), Some(Errno::ROFS));
    File::open(path).unwrap().read_exact_at(&mut [0; 9], 3).unwrap();
}
