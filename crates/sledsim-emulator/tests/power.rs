//! Power failures of served devices: what is left, what clients see, and recordings.

use crate::nbd::client::{Client, GO, Served, info};
use crate::session::device;
use sha2::{Digest, Sha256};
use sledsim_base::random::Stream;
use sledsim_base::units::Nanos;
use sledsim_core::catalog::Device;
use sledsim_emulator::command::{Command, CommandKind};
use sledsim_emulator::errno::Errno;
use sledsim_emulator::export::{BatchReply, CommandResult};
use sledsim_emulator::net::Settings;
use sledsim_emulator::power_failure::{CutSpec, DataRecording, HangUp};
use sledsim_emulator::server::{ExportSpec, Server};
use sledsim_emulator::store::Store;
use sledsim_emulator::timeline::{Answer, Reply};
use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// Blocks that the tests write.
const BLOCKS: u64 = 700;
const SHUTDOWN: u32 = 0x8000_0007;

struct Says(u64, Sender<(u64, Answer)>);

impl Reply for Says {
    fn send(self: Box<Self>, answer: Answer) {
        let _ = self.1.send((self.0, answer));
    }
}

fn serve(device: Device, cut: &str, record: Option<&Path>) -> Server {
    let spec = ExportSpec {
        speed: 100.0,
        power_cut: Some(CutSpec::parse(cut).unwrap()),
        record_data: record.map(Path::to_owned),
        ..ExportSpec::of("d", device)
    };
    Server::start(vec![spec]).unwrap()
}

/// A host that writes its blocks anew and anew, each block with the number of the write
/// in all of its words, and remembers when it was told what.
struct Host {
    sender: Sender<(u64, Answer)>,
    answers: Receiver<(u64, Answer)>,
    draw: Stream,
    next: u64,
    /// By write: its first block and number of blocks.
    writes: BTreeMap<u64, (u64, u64)>,
    /// Writes whose answer came, and whether a flush that began later was answered, too.
    acknowledged: BTreeMap<u64, bool>,
    /// Flushes under way, with the writes acknowledged before.
    flushes: BTreeMap<u64, Vec<u64>>,
    open: usize,
}

impl Host {
    fn new(seed: u64) -> Self {
        let (sender, answers) = channel();
        Self {
            sender,
            answers,
            draw: Stream::new(seed, "host"),
            next: 1,
            writes: BTreeMap::new(),
            acknowledged: BTreeMap::new(),
            flushes: BTreeMap::new(),
            open: 0,
        }
    }

    fn hear(&mut self, wait: Duration) {
        while let Ok((id, answer)) = self.answers.recv_timeout(wait) {
            self.open -= 1;
            if answer.is_err() {
                continue;
            }
            match self.flushes.remove(&id) {
                None => {
                    self.acknowledged.insert(id, false);
                }
                Some(before) => {
                    for id in before {
                        self.acknowledged.insert(id, true);
                    }
                }
            }
            if self.open < 4 {
                return;
            }
        }
    }

    /// Submits so many requests, at most eight under way.
    fn work(&mut self, server: &Server, requests: usize) {
        let export = server.exports().named("d").unwrap();
        for _ in 0..requests {
            if !export.is_on() {
                return;
            }
            let id = self.next;
            self.next += 1;
            self.open += 1;
            let reply = Box::new(Says(id, self.sender.clone()));
            let flush = self.draw.chance(0.08);
            let most = if self.draw.chance(0.2) { 60 } else { 9 };
            let blocks = 1 + self.draw.below(most);
            let lbn = self.draw.below(BLOCKS - blocks);
            let data = [id.to_le_bytes(); 64].concat().repeat(blocks as usize);
            let command = |what, offset| Command { what, offset, fua: false, stream: 0 };
            if flush {
                let told: Vec<u64> = self.acknowledged.keys().copied().collect();
                self.flushes.insert(id, told);
                export.submit(command(CommandKind::Flush, 0), reply);
            } else {
                self.writes.insert(id, (lbn, blocks));
                export.submit(command(CommandKind::Write(&data), lbn * 512), reply);
            }
            if self.open >= 8 {
                self.hear(Duration::from_secs(2));
            }
        }
    }

    /// Checks a block after a power failure; returns the number of the write it holds.
    /// `durable` says whether every acknowledged write is promised to survive.
    fn check(&self, lbn: u64, block: &[u8], durable: bool) -> u64 {
        let number = u64::from_le_bytes(block[..8].try_into().unwrap());
        assert!(
            block.chunks(8).all(|word| word == number.to_le_bytes()),
            "block {lbn} is a mixture"
        );
        let covers = |(first, blocks): &(u64, u64)| (*first..first + blocks).contains(&lbn);
        if number > 0 {
            assert!(covers(&self.writes[&number]), "block {lbn} holds {number}");
        }
        for (id, of) in self.writes.range(number + 1..) {
            let promised = match self.acknowledged.get(id) {
                None => false,
                Some(flushed) => durable || *flushed,
            };
            // A write that was under way together with the one found may be older.
            let concurrent = number > 0 && id - number < 16;
            assert!(
                !covers(of) || !promised || concurrent,
                "block {lbn} holds {number}, and {id} was promised"
            );
        }
        number
    }
}

/// Reads a block of the export; `None` if it cannot be read.
fn read(server: &Server, lbn: u64) -> Option<Vec<u8>> {
    let (sender, answers) = channel();
    let command =
        Command { what: CommandKind::Read(512), offset: lbn * 512, fua: false, stream: 0 };
    let export = server.exports().named("d").unwrap();
    export.submit(command, Box::new(Says(0, sender)));
    match answers.recv_timeout(Duration::from_secs(120)).unwrap().1 {
        Ok(data) => Some(data),
        Err(errno) => {
            assert_eq!(errno, Errno::IO);
            None
        }
    }
}

/// Power fails under a host that writes; what is left is what was promised, and the
/// recording gives the same bytes. Twice, so that a device that has recovered fails, too.
#[test]
fn a_device_keeps_its_promises_and_its_recording_gives_the_same_bytes() {
    for (name, keys, torn) in [
        ("g2", &[][..], true),
        ("g2-buffered", &[], true),
        ("g2-buffered", &[("hold_up_us", "200")], false),
        ("atlas10k", &[], false),
        ("mwb", &[("front.hold_up_us", "200")], false),
        ("mcd", &[("front.hold_up_us", "200")], false),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let record = folder.path().join("recording");
        let device = device(name, keys);
        let durable = device.promise().name() == "completion";
        let mut server = serve(device, "manual", Some(&record));
        let power = server.power("d").unwrap();
        let mut host = Host::new(7);
        let (mut cuts, mut left, mut unreadable) = (Vec::new(), Vec::new(), 0);
        for round in 0..3 {
            host.work(&server, 120 + 31 * round);
            let ledger = power.cut().unwrap();
            assert!(power.is_off() && read(&server, 0).is_none());
            host.hear(Duration::from_millis(20));
            assert_eq!(ledger["promised_lost"], 0, "{name}: {ledger}");
            assert!(ledger["torn"] == 0 || torn, "{name}: {ledger}");
            power.on().unwrap();
            // It fails again while it starts: nothing more is lost.
            power.cut().unwrap();
            power.on().unwrap();
            let image: Vec<_> = (0..BLOCKS).map(|lbn| read(&server, lbn)).collect();
            for (lbn, block) in (0..).zip(&image) {
                match block {
                    Some(block) => {
                        host.check(lbn, block, durable);
                    }
                    None => unreadable += 1,
                }
            }
            // The host begins anew from what it found.
            host.acknowledged.clear();
            host.flushes.clear();
            host.open = 0;
            host.answers = {
                let (sender, answers) = channel();
                host.sender = sender;
                answers
            };
            cuts.push(Nanos(ledger["at_ns"].as_u64().unwrap()));
            left.push(image);
        }
        assert!(torn || unreadable == 0, "{name}");
        server.stop(Duration::from_secs(120)).unwrap();
        let recording = DataRecording::load(&record).unwrap();
        for (at, image) in cuts.into_iter().zip(left) {
            let cut = recording.cut(at).unwrap();
            let store = cut.store().unwrap();
            for (lbn, block) in (0..).zip(image) {
                let mut found = vec![0; 512];
                let is_read = store.read(lbn * 512, &mut found).is_ok();
                assert_eq!(is_read, block.is_some(), "{name} at {at}: block {lbn}");
                if let Some(block) = block {
                    assert!(found == block, "{name} at {at}: block {lbn}");
                }
            }
            assert_eq!(cut.runs(), recording.cut(at).unwrap().runs());
        }
    }
}

/// Without a code of tip sectors a torn block reads as new up to some bit of each of its
/// tip sectors, the same bit under all tips, and later ones are old. The bit rises with the
/// instant, from none to all, over the time of a row.
#[test]
fn tip_sectors_without_a_code_begin_new_and_end_old() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("recording");
    let device = device("g2", &[("faults.vertical_check", "false")]);
    let row_ns = 90.0 / 700e3 * 1e9;
    let mut server = serve(device, "manual", Some(&record));
    let (sender, answers) = channel();
    let export = server.exports().named("d").unwrap();
    let ones = [0xff; 8 * 512];
    let command =
        Command { what: CommandKind::Write(&ones), offset: 40 * 512, fua: false, stream: 0 };
    export.submit(command, Box::new(Says(0, sender)));
    answers.recv_timeout(Duration::from_secs(120)).unwrap().1.unwrap();
    server.stop(Duration::from_secs(120)).unwrap();
    let recording = DataRecording::load(&record).unwrap();
    let write = recording.history().epochs[0].requests[0];
    let end = write.completion.unwrap();
    let mut torn = Vec::new();
    for at in (write.arrival.0..end.0 + 1000).step_by(1000) {
        let cut = recording.cut(Nanos(at)).unwrap();
        assert_eq!(cut.facts()["unreadable"], 0);
        let mut blocks = vec![1; 8 * 512];
        cut.store().unwrap().read(40 * 512, &mut blocks).unwrap();
        let sectors = blocks.chunks(8).map(|sector| u64::from_be_bytes(sector.try_into().unwrap()));
        let bits: Vec<u32> = sectors
            .map(|sector| {
                assert_eq!(sector.leading_ones(), sector.count_ones());
                sector.count_ones()
            })
            .collect();
        assert!(bits.iter().all(|one| *one == bits[0]), "{bits:?}");
        assert_eq!(cut.facts()["silent"] == 8, (1..64).contains(&bits[0]));
        torn.push((at, bits[0]));
    }
    assert!(torn.is_sorted_by_key(|(_, bits)| *bits));
    assert_eq!((torn[0].1, torn.last().unwrap().1), (0, 64));
    // 80 of the 90 bits of a row are written.
    let part: Vec<u64> =
        torn.iter().filter(|one| (1..64).contains(&one.1)).map(|one| one.0).collect();
    let took_ns = (part[part.len() - 1] - part[0]) as f64;
    assert!((took_ns / (row_ns * 80.0 / 90.0) - 0.98).abs() < 0.05, "{took_ns} {row_ns}");
}

/// A memory without its battery loses what a controller has acknowledged.
#[test]
fn a_cache_without_its_battery_is_found() {
    for (battery, broken) in [("true", false), ("false", true)] {
        let device = device("disk_ram", &[("controller_cache.battery", battery)]);
        let mut server = serve(device, "manual", None);
        Host::new(3).work(&server, 200);
        let ledger = server.power("d").unwrap().cut().unwrap();
        assert_eq!(ledger["promised_lost"] != 0, broken, "{ledger}");
        server.stop(Duration::ZERO).unwrap();
    }
}

#[test]
fn connections_end_and_clients_find_the_device_off_then_starting() {
    let device = device("atlas10k", &[]);
    let mut served = Served::serving(serve(device, "manual", None), &Settings::default());
    let mut client = Client::simple(&served.socket, "d");
    client.write(0, &[5; 4096]).unwrap();
    client.command(3, 0, 0, 0).unwrap();
    let power = served.server.power("d").unwrap();
    power.cut().unwrap();
    assert!(client.is_closed());
    let mut late = Client::connect(&served.socket);
    let replies = late.replies(GO, &info("d", &[]));
    assert!(replies.iter().any(|(kind, _)| *kind == SHUTDOWN), "{replies:?}");
    let again = power.cut().unwrap_err().to_string();
    assert!(again.contains("off already"), "{again}");
    power.on().unwrap();
    let again = power.on().unwrap_err().to_string();
    assert!(again.contains("on already"), "{again}");
    let mut client = Client::simple(&served.socket, "d");
    assert_eq!(client.read(0, 4096).unwrap(), [5; 4096]);
    served.server.stop(Duration::ZERO).unwrap();
}

#[test]
fn power_fails_when_it_is_told_to() {
    let off = |server: &Server| {
        let until = Instant::now() + Duration::from_secs(120);
        while !server.power("d").unwrap().is_off() {
            assert!(Instant::now() < until);
            std::thread::sleep(Duration::from_millis(2));
        }
        server.status()["exports"][0]["power"]["last_cut"].clone()
    };
    let server = serve(device("g2", &[]), "at=0.4", None);
    assert_eq!(off(&server)["at_ns"], 400_000_000);
    let server = serve(device("g2", &[]), "after=30", None);
    Host::new(1).work(&server, 29);
    assert!(!server.power("d").unwrap().is_off());
    Host::new(1).work(&server, 1);
    off(&server);
    let server = serve(device("g2", &[]), "flush=2", None);
    Host::new(1).work(&server, 200);
    off(&server);
    // The seed alone decides the instant.
    let next = |cut: &str| {
        let server = serve(device("g2", &[]), cut, None);
        server.status()["exports"][0]["power"]["next_cut_ns"].clone()
    };
    let first = next("rate=0.001,seed=4");
    assert!(first.is_u64());
    assert_eq!(first, next("rate=0.001,seed=4"));
    assert_ne!(first, next("rate=0.001,seed=5"));
    // Power fails again and again.
    let server = serve(device("g2", &[]), "rate=5,seed=4,back=0.01", None);
    let until = Instant::now() + Duration::from_secs(120);
    while server.status()["exports"][0]["power"]["cuts"].as_u64() < Some(3) {
        assert!(Instant::now() < until);
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn wrong_words_are_refused() {
    for (text, says) in [
        ("", "must be manual"),
        ("soon", "'soon': must be manual"),
        ("at=-1", "from 0 to 1e9"),
        ("at=x", "from 0 to 1e9"),
        ("after=0", "an integer from 1 on"),
        ("flush=1.5", "an integer from 1 on"),
        ("rate=0", "from 1e-9 to 1e6"),
        ("at=1,after=2", "only one of"),
        ("at=1,seed=2", "with rate only"),
        ("back=1", "must have manual"),
        ("rate=1,seed=x", "must be an integer"),
    ] {
        let error = CutSpec::parse(text).unwrap_err().to_string();
        assert!(error.contains(says), "{text}: {error}");
    }
    let server = Server::start(vec![ExportSpec::of("d", device("g2", &[]))]).unwrap();
    let error = server.power("d").err().unwrap().to_string();
    assert!(error.contains("keeps no record"), "{error}");
    let error = server.power("e").err().unwrap().to_string();
    assert!(error.contains("must be one of d"), "{error}");
}

#[test]
fn damaged_recordings_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("recording");
    let mut server = serve(device("g2", &[]), "manual", Some(&record));
    Host::new(2).work(&server, 50);
    let error = DataRecording::load(&record).err().unwrap().to_string();
    assert!(error.contains("about.json"), "{error}");
    server.stop(Duration::from_secs(120)).unwrap();
    let spec = || ExportSpec {
        record_data: Some(record.clone()),
        ..ExportSpec::of("d", device("g2", &[]))
    };
    let error = Server::start(vec![spec()]).err().unwrap().to_string();
    assert!(error.contains("not empty"), "{error}");
    DataRecording::load(&record).unwrap();
    let about = fs::read_to_string(record.join("about.json")).unwrap();
    let says = |text: &str| {
        fs::write(record.join("about.json"), text).unwrap();
        DataRecording::load(&record).err().unwrap().to_string()
    };
    // A document with the right digest, but the wrong content.
    let mut lines: Vec<_> = about.split_inclusive('\n').collect();
    lines.remove(1);
    let others = lines.concat();
    for (from, to, expected) in [
        ("recording 2", "recording 3", "format"),
        ("recording 2", "recording 1", "format"),
        ("\"scheduler\": \"fcfs\"", "\"scheduler\": \"fcf\"", "scheduler"),
        ("\"requests\": 50", "\"requests\": 51", "has 50 requests"),
        ("\"bytes\": ", "\"bytes\": 1", "the device has"),
        ("\"sha256\": \"", "\"sha256\": \"0", "base.img: is damaged"),
    ] {
        let damaged = others.replacen(from, to, 1);
        assert_ne!(damaged, others, "{from}");
        let error = says(&about.replacen(from, to, 1));
        assert!(error.contains("second line") || error.contains("record anew"));
        let digest = Sha256::digest(&damaged);
        let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        let sealed = format!("{{\n  \"sha256\": \"{digest}\",\n{}", &damaged[2..]);
        let error = says(&sealed);
        assert!(error.contains(expected), "{from}: {error}");
    }
    fs::write(record.join("about.json"), &about).unwrap();
    let data = OpenOptions::new().write(true).open(record.join("data.bin"));
    let data = data.unwrap();
    data.set_len(data.metadata().unwrap().len() - 512).unwrap();
    let error = DataRecording::load(&record).err().unwrap().to_string();
    assert!(error.contains("data.bin"), "{error}");
}

/// A connection that cannot be ended.
struct Line;

impl HangUp for Line {
    fn hang_up(&self) {}
}

/// Serves a command; returns the answer.
fn answer(server: &Server, stream: u32, what: CommandKind<'_>) -> Answer {
    let (sender, answers) = channel();
    let command = Command { what, offset: 0, fua: false, stream };
    let export = server.exports().named("d").unwrap();
    export.submit(command, Box::new(Says(0, sender)));
    let wait = Duration::from_secs(120);
    answers.recv_timeout(wait).unwrap().1
}

/// What a client has sent is lost with the power, though it may still be on its way through
/// the server when power returns.
#[test]
fn commands_of_a_connection_that_power_has_ended_never_begin() {
    let server = serve(device("g2", &[]), "manual", None);
    let power = server.power("d").unwrap();
    let line: Arc<dyn HangUp> = Arc::new(Line);
    assert!(power.register(7, Arc::downgrade(&line)));
    let write = CommandKind::Write(&[1; 512]);
    assert_eq!(answer(&server, 7, write), Ok(vec![]));
    power.cut().unwrap();
    power.on().unwrap();
    let late = CommandKind::Write(&[2; 512]);
    assert_eq!(answer(&server, 7, late), Err(Errno::IO));
    assert_eq!(answer(&server, 8, CommandKind::Read(512)), Ok(vec![1; 512]));
}

/// A trim is a hint. Nothing is written, so that a power failure would bring the data back.
#[test]
fn trimmed_blocks_keep_their_data_where_power_may_fail() {
    let server = serve(device("g2", &[]), "manual", None);
    let power = server.power("d").unwrap();
    let write = CommandKind::Write(&[1; 512]);
    assert_eq!(answer(&server, 7, write), Ok(vec![]));
    assert_eq!(answer(&server, 7, CommandKind::Trim(512)), Ok(vec![]));
    assert_eq!(answer(&server, 7, CommandKind::Read(512)), Ok(vec![1; 512]));
    power.cut().unwrap();
    power.on().unwrap();
    assert_eq!(answer(&server, 7, CommandKind::Read(512)), Ok(vec![1; 512]));
}

/// A batch in flight tears what it writes at most: what it reads stays readable.
#[test]
fn a_batch_tears_no_block_that_it_reads() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("recording");
    let mut server = serve(device("g2", &[]), "manual", Some(&record));
    let (old, new) = ([1; 8 * 512], [2; 8 * 512]);
    assert_eq!(answer(&server, 0, CommandKind::Write(&old)), Ok(vec![]));
    let command = |what, lbn: u64| Command { what, offset: lbn * 512, fua: false, stream: 0 };
    let batch = [command(CommandKind::Write(&new), 10), command(CommandKind::Read(8 * 512), 0)];
    let (sender, done) = channel();
    let export = server.exports().named("d").unwrap();
    export.submit_batch(&batch, Box::new(Batched(sender))).unwrap();
    done.recv_timeout(Duration::from_secs(120)).unwrap();
    server.stop(Duration::from_secs(120)).unwrap();
    let recording = DataRecording::load(&record).unwrap();
    let requests = &recording.history().epochs[0].requests;
    let (begin, end) = (requests[1].arrival, requests[2].completion.unwrap());
    let mut torn = 0;
    for at in (begin.0..end.0).step_by(1000) {
        let cut = recording.cut(Nanos(at)).unwrap();
        let mut blocks = vec![0; 8 * 512];
        cut.store().unwrap().read(0, &mut blocks).unwrap();
        assert!(blocks == old, "at {at}");
        torn += cut.facts()["torn"].as_u64().unwrap();
    }
    assert!(torn > 0, "what it writes is torn");
}

/// Tells that a batch is done.
struct Batched(Sender<()>);

impl BatchReply for Batched {
    fn send(self: Box<Self>, _: Vec<CommandResult>) {
        let _ = self.0.send(());
    }
}
