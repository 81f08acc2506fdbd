//! Pipes, and a reading that is stopped.

use super::{file, open, replay};
use sledsim_base::error::Error;
use sledsim_base::keys::Keys;
use sledsim_base::units::Nanos;
use sledsim_core::model::source::Source;
use sledsim_experiments::replay::TraceSpec;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A pipe with a name, and the writing of `text` to it, so many times.
fn piped(text: &str, times: usize) -> (TempDir, PathBuf, std::thread::JoinHandle<()>) {
    let folder = TempDir::new().unwrap();
    let pipe = folder.path().join("pipe.disksim");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let (writer, text) = (pipe.clone(), text.to_owned());
    let writing = std::thread::spawn(move || {
        for _ in 0..times {
            // Who reads it may have enough.
            let _ = std::fs::write(&writer, &text);
        }
    });
    (folder, pipe, writing)
}

#[test]
fn a_pipe_is_read_as_a_file_is() {
    let text: String = (0..200_000).map(|i| format!("{i} 0 {} 1 1\n", i % 90)).collect();
    let (_folder, plain) = file(&text);
    for keys in ["", "address = \"scale\"", "trace_device = \"separate\"", "requests = 3"] {
        let (_folder, pipe, writing) = piped(&text, 1);
        let (requests, mut facts) = replay(&pipe, keys, 100).unwrap();
        writing.join().unwrap();
        let (expected, wanted) = replay(&plain, keys, 100).unwrap();
        assert_eq!(requests, expected, "{keys}");
        facts["path"] = wanted["path"].clone();
        assert_eq!(facts, wanted, "{keys}");
    }
}

#[test]
fn a_pipe_is_read_once_or_kept_for_all() {
    let text = "1.5 0 5 1 1\n2.5 0 6 1 1\n";
    let spec = |path: &Path| {
        let mut keys = Keys::parse("", "my.toml").unwrap();
        TraceSpec::read(path, &mut keys).unwrap()
    };
    let (_folder, pipe, writing) = piped(text, 1);
    let one = spec(&pipe);
    assert!(one.source(100, &mut |_| Ok(())).is_ok());
    writing.join().unwrap();
    // Another run of it, or of the same pipe while it is in use, has no part of it.
    for again in [one.clone(), spec(&pipe)] {
        let error = again.source(100, &mut |_| Ok(())).err().unwrap().to_string();
        assert!(error.contains("was read before: give a file"), "{error}");
        let error = again.keep(&mut |_| Ok(())).unwrap_err().to_string();
        assert!(error.contains("was read before: give a file"), "{error}");
    }
    let (_folder, pipe, writing) = piped(text, 1);
    let one = spec(&pipe);
    one.keep(&mut |_| Ok(())).unwrap();
    writing.join().unwrap();
    for again in [one.clone(), spec(&pipe), one] {
        let mut source = again.source(100, &mut |_| Ok(())).unwrap();
        for at in [Nanos(1_500_000), Nanos(2_500_000)] {
            assert_eq!(source.next_arrival().unwrap(), Some(at));
            assert_eq!(source.take().arrival, at);
        }
    }
    // When all are done with it, its name stands for what is written then.
    let writer = pipe.clone();
    let writing = std::thread::spawn(move || std::fs::write(writer, "7.5 0 5 1 1\n").unwrap());
    let mut source = spec(&pipe).source(100, &mut |_| Ok(())).unwrap();
    assert_eq!(source.next_arrival().unwrap(), Some(Nanos(7_500_000)));
    writing.join().unwrap();
    // What stops a copy is an error, and the pipe was read.
    let (_folder, pipe, writing) = piped(text, 1);
    let one = spec(&pipe);
    let stopped = one.keep(&mut |_| Err(Error::Interrupted));
    assert!(matches!(stopped, Err(Error::Interrupted)));
    assert!(one.source(100, &mut |_| Ok(())).is_err());
    writing.join().unwrap();
}

#[test]
fn reading_can_be_interrupted_and_reports_its_progress() {
    let text: String = (0..200_000).map(|i| format!("{i} 3 {} 1 1\n", i % 90)).collect();
    let (_folder, path) = file(&text);
    for keys in ["address = \"scale\"", "trace_device = 4"] {
        let mut keys = Keys::parse(keys, "my.toml").unwrap();
        let spec = TraceSpec::read(&path, &mut keys).unwrap();
        let mut shares = Vec::new();
        let error = spec.source(100, &mut |progress| {
            shares.push(progress.share.unwrap());
            if shares.len() == 50 {
                return Err(Error::Interrupted);
            }
            Ok(())
        });
        assert_eq!(error.err().unwrap().to_string(), "interrupted");
        assert!(shares.is_sorted() && shares[0] > 0.0 && shares[49] < 0.6, "{shares:?}");
    }
    let mut source = open(&path, "", 100).unwrap();
    let mut shares = Vec::new();
    while source.next_arrival().unwrap().is_some() {
        source.take();
        shares.extend(source.share());
    }
    assert!(shares.is_sorted() && shares[0] < 0.2);
    assert_eq!(shares.last(), Some(&1.0));
}
