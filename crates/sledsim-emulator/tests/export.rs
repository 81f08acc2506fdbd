//! An export and its store: durability, and failures.

use sledsim_base::units::Nanos;
use sledsim_core::catalog::Device;
use sledsim_core::queueing::schedulers::SchedulerSpec;
use sledsim_emulator::command::{Command, CommandKind};
use sledsim_emulator::errno::Errno;
use sledsim_emulator::export::{BatchReply, CommandResult, Export, ExportInfo, Refusal};
use sledsim_emulator::log::Log;
use sledsim_emulator::store::{Sparse, Store};
use sledsim_emulator::timeline::{Answer, Reply, Timeline};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// A store that counts its flushes.
#[derive(Default)]
struct Medium {
    flushes: AtomicU64,
    /// A flush blocks until this can be locked.
    busy: Mutex<()>,
    broken: AtomicBool,
    /// The next flush fails, and only that one.
    fails_once: AtomicBool,
}

struct Watched(Sparse, Arc<Medium>);

impl Store for Watched {
    fn bytes(&self) -> u64 {
        self.0.bytes()
    }

    fn read(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        if self.1.broken.load(SeqCst) {
            return Err(io::Error::from_raw_os_error(Errno::IO.raw_os_error()));
        }
        self.0.read(offset, buffer)
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        if self.1.broken.load(SeqCst) {
            return Err(io::Error::from_raw_os_error(Errno::NOSPC.raw_os_error()));
        }
        self.0.write(offset, data)
    }

    fn zero(&self, offset: u64, bytes: u64, unmap: bool) -> io::Result<()> {
        self.0.zero(offset, bytes, unmap)
    }

    fn flush(&self) -> io::Result<()> {
        drop(self.1.busy.lock().unwrap());
        if self.1.broken.load(SeqCst) {
            return Err(io::Error::from_raw_os_error(Errno::IO.raw_os_error()));
        }
        if self.1.fails_once.swap(false, SeqCst) {
            return Err(io::Error::from_raw_os_error(Errno::DQUOT.raw_os_error()));
        }
        self.1.flushes.fetch_add(1, SeqCst);
        Ok(())
    }

    fn is_durable(&self) -> bool {
        true
    }

    fn extent(&self, offset: u64, bytes: u64) -> io::Result<(u64, bool)> {
        self.0.extent(offset, bytes)
    }

    fn allocated(&self) -> u64 {
        self.0.allocated()
    }
}

/// Forwards the answer, with the number of flushes by then.
struct Told(Sender<(Answer, u64)>, Arc<Medium>);

impl Reply for Told {
    fn send(self: Box<Self>, answer: Answer) {
        let _ = self.0.send((answer, self.1.flushes.load(SeqCst)));
    }
}

struct Bench {
    export: Arc<Export>,
    medium: Arc<Medium>,
    told: Sender<(Answer, u64)>,
    answers: Receiver<(Answer, u64)>,
    _writer: sledsim_emulator::log::RecordingWriter,
}

impl Bench {
    fn new(read_only: bool) -> Self {
        Self::of("memory", read_only)
    }

    fn of(device: &str, read_only: bool) -> Self {
        let device = Device::resolve(device, &[]).unwrap();
        let (model, _) = device.build_with(&SchedulerSpec::default()).unwrap();
        let medium = Arc::new(Medium::default());
        let bytes = model.blocks() * 512;
        let store = Watched(Sparse::in_memory(bytes).unwrap(), Arc::clone(&medium));
        let (log, writer) = Log::start(1.0, None).unwrap();
        let timeline = Timeline::start(model, 1.0, log.clone()).unwrap();
        let about = ExportInfo {
            name: "d".into(),
            file: None,
            read_only,
            device,
            scheduler: SchedulerSpec::default(),
            speed: 1.0,
        };
        let export = Arc::new(Export::new(about, timeline, Box::new(store), log).unwrap());
        let (told, answers) = channel();
        Self { export, medium, told, answers, _writer: writer }
    }

    fn submit(&self, what: CommandKind<'_>, offset: u64, fua: bool) {
        let reply = Box::new(Told(self.told.clone(), Arc::clone(&self.medium)));
        let command = Command { what, offset, fua, stream: 0 };
        self.export.submit(command, reply);
    }

    fn next(&self) -> (Answer, u64) {
        self.answers.recv_timeout(Duration::from_secs(120)).unwrap()
    }

    fn ask(&self, what: CommandKind<'_>, offset: u64, fua: bool) -> (Answer, u64) {
        self.submit(what, offset, fua);
        self.next()
    }
}

#[test]
fn durable_commands_are_flushed_before_the_answer() {
    let bench = Bench::new(false);
    let data = [7; 4096];
    assert_eq!(bench.ask(CommandKind::Write(&data), 0, false), (Ok(vec![]), 0));
    assert_eq!(bench.ask(CommandKind::Read(4096), 0, true), (Ok(data.to_vec()), 0));
    assert_eq!(bench.ask(CommandKind::Write(&data), 4096, true), (Ok(vec![]), 1));
    assert_eq!(bench.ask(CommandKind::Flush, 0, false), (Ok(vec![]), 2));
    assert_eq!(bench.ask(CommandKind::Trim(4096), 0, false), (Ok(vec![]), 2));
    assert_eq!(bench.ask(CommandKind::Trim(4096), 0, true), (Ok(vec![]), 3));
    let zero = CommandKind::Zero { bytes: 512, unmap: false };
    assert_eq!(bench.ask(zero, 4096, true), (Ok(vec![]), 4));
    let (answer, _) = bench.ask(CommandKind::Read(8192), 0, false);
    let mut expected = vec![0; 8192];
    expected[4608..].fill(7);
    assert_eq!(answer, Ok(expected));
}

/// Flushes that arrive during a flush share the next one, and other commands do not
/// wait for it.
#[test]
fn waiting_flushes_share_one_and_block_no_other_command() {
    let bench = Bench::new(false);
    let busy = bench.medium.busy.lock().unwrap();
    for _ in 0..50 {
        bench.submit(CommandKind::Flush, 0, false);
    }
    let (read, flushes) = bench.ask(CommandKind::Read(512), 0, false);
    assert_eq!((read, flushes), (Ok(vec![0; 512]), 0));
    drop(busy);
    for _ in 0..50 {
        assert_eq!(bench.next().0, Ok(vec![]));
    }
    // The flushes that arrived before the first one began, and all others.
    let flushes = bench.medium.flushes.load(SeqCst);
    assert!((1..=2).contains(&flushes), "{flushes}");
}

#[test]
fn errors_of_the_store_are_reported() {
    let bench = Bench::new(false);
    let all = bench.export.bytes();
    assert_eq!(bench.ask(CommandKind::Read(513), all - 512, false).0, Err(Errno::INVAL));
    assert_eq!(bench.ask(CommandKind::Read(512), u64::MAX, false).0, Err(Errno::INVAL));
    assert_eq!(bench.ask(CommandKind::Read(0), all, false).0, Ok(vec![]));
    bench.medium.broken.store(true, SeqCst);
    assert_eq!(bench.ask(CommandKind::Write(&[1; 512]), 0, false).0, Err(Errno::NOSPC));
    assert_eq!(bench.ask(CommandKind::Read(512), 0, false).0, Err(Errno::IO));
    assert_eq!(bench.ask(CommandKind::Flush, 0, false).0, Err(Errno::IO));
    bench.medium.broken.store(false, SeqCst);
    assert_eq!(bench.ask(CommandKind::Read(512), 0, false).0, Ok(vec![0; 512]));
    assert_eq!(bench.export.timeline().outstanding(), 0);
}

/// fsync(2): after a failure the system may consider the data written, so that a later
/// success proves nothing about them.
#[test]
fn all_flushes_after_a_failed_one_fail() {
    let bench = Bench::of("cmu2003", false);
    let data = [5; 512];
    assert_eq!(bench.ask(CommandKind::Flush, 0, false), (Ok(vec![]), 1));
    assert_eq!(bench.export.flushes().failed(), None);
    bench.medium.fails_once.store(true, SeqCst);
    assert_eq!(bench.ask(CommandKind::Flush, 0, false).0, Err(Errno::DQUOT));
    let said = bench.export.flushes().failed().unwrap();
    assert!(said.contains("os error 122"), "{said}"); // EDQUOT of Linux
    for _ in 0..3 {
        assert_eq!(bench.ask(CommandKind::Flush, 0, false), (Err(Errno::IO), 1));
        assert_eq!(bench.ask(CommandKind::Write(&data), 512, true), (Err(Errno::IO), 1));
        assert_eq!(bench.ask(CommandKind::Trim(512), 1024, true), (Err(Errno::IO), 1));
    }
    let done =
        bench.batch(&[(CommandKind::Write(&data), 3, true), (CommandKind::Write(&data), 9, false)]);
    let answers: Vec<_> = done.unwrap().into_iter().map(|done| done.answer).collect();
    assert_eq!(answers, [Err(Errno::IO), Ok(vec![])]);
    assert_eq!(bench.export.flushes().flush(), Err(Errno::IO));
    // As with a disk, reads and plain writes continue.
    assert_eq!(bench.ask(CommandKind::Write(&[6; 512]), 0, false).0, Ok(vec![]));
    assert_eq!(bench.ask(CommandKind::Read(512), 0, true).0, Ok(vec![6; 512]));
    let facts = (bench.export.log()).to_json(Nanos::ZERO, Vec::new(), Vec::new());
    assert_eq!(facts["summary"]["requests"], 15);
    assert_eq!(facts["summary"]["errors"], 11);
    assert_eq!(facts["summary"]["blocks_written"], 2);
}

/// One of the flushes of several clients fails while the others wait. All fail, in any
/// order.
#[test]
fn flushes_concurrent_with_a_failing_one_fail() {
    let bench = Bench::new(false);
    let busy = bench.medium.busy.lock().unwrap();
    bench.medium.fails_once.store(true, SeqCst);
    thread::scope(|scope| {
        let beside: Vec<_> =
            (0..4).map(|_| scope.spawn(|| bench.export.flushes().flush())).collect();
        for _ in 0..50 {
            bench.submit(CommandKind::Flush, 0, false);
            bench.submit(CommandKind::Write(&[1; 512]), 0, true);
        }
        drop(busy);
        for flush in beside {
            assert!(flush.join().unwrap().is_err());
        }
    });
    for _ in 0..100 {
        assert!(bench.next().0.is_err());
    }
    assert_eq!(bench.medium.flushes.load(SeqCst), 0);
}

#[test]
fn a_read_only_export_refuses_writes() {
    let bench = Bench::new(true);
    assert_eq!(bench.ask(CommandKind::Write(&[1; 512]), 0, false).0, Err(Errno::ROFS));
    assert_eq!(bench.ask(CommandKind::Trim(512), 0, false).0, Err(Errno::ROFS));
    assert_eq!(bench.ask(CommandKind::Flush, 0, false).0, Ok(vec![]));
    assert_eq!(bench.ask(CommandKind::Read(512), 0, false).0, Ok(vec![0; 512]));
}

/// Forwards the results of a batch.
struct Batch(Sender<Vec<CommandResult>>);

impl BatchReply for Batch {
    fn send(self: Box<Self>, done: Vec<CommandResult>) {
        let _ = self.0.send(done);
    }
}

impl Bench {
    fn batch(
        &self,
        commands: &[(CommandKind<'_>, u64, bool)],
    ) -> Result<Vec<CommandResult>, Refusal> {
        let (told, done) = channel();
        let commands: Vec<_> = commands
            .iter()
            .map(|&(what, lbn, fua)| Command { what, offset: lbn * 512, fua, stream: 3 })
            .collect();
        self.export.submit_batch(&commands, Box::new(Batch(told)))?;
        Ok(done.recv_timeout(Duration::from_secs(120)).unwrap())
    }
}

/// Each command of a batch is answered as a single command would be: durable commands
/// after a flush, failed ones with the error of the store.
#[test]
fn each_command_of_a_batch_has_its_own_answer() {
    let bench = Bench::of("cmu2003", false);
    let data = [9; 1024];
    let done = bench.batch(&[
        (CommandKind::Write(&data), 10, true),
        (CommandKind::Read(512), 700, false),
        (CommandKind::Write(&data), 20, false),
    ]);
    let done = done.unwrap();
    assert_eq!(bench.medium.flushes.load(SeqCst), 1);
    assert_eq!(done[1].answer, Ok(vec![0; 512]));
    for (done, (lbn, blocks)) in done.iter().zip([(10, 2), (700, 1), (20, 2)]) {
        assert_eq!((done.row.lbn, done.row.blocks, done.row.stream), (lbn, blocks, 3));
    }
    bench.medium.broken.store(true, SeqCst);
    let done = bench.batch(&[
        (CommandKind::Read(512), 10, false),
        (CommandKind::Write(&data), 20, false),
        (CommandKind::Write(&data), 30, true),
    ]);
    let errors: Vec<_> = done.unwrap().into_iter().map(|done| done.answer).collect();
    let [read, write, durable] = [Errno::IO, Errno::NOSPC, Errno::NOSPC].map(Err);
    assert_eq!(errors, [read, write, durable]);
    bench.medium.broken.store(false, SeqCst);
    let done = bench.batch(&[(CommandKind::Read(1024), 10, false)]).unwrap();
    assert_eq!(done[0].answer, Ok(data.to_vec()));
    assert_eq!(bench.export.timeline().outstanding(), 0);
}

#[test]
fn invalid_batches_are_refused() {
    let bench = Bench::of("cmu2003", false);
    let byte = Command { what: CommandKind::Write(&[1; 512]), offset: 1, fua: false, stream: 0 };
    let (told, done) = channel();
    let refused = bench.export.submit_batch(&[byte], Box::new(Batch(told)));
    assert!(matches!(refused, Err(Refusal::Invalid(_))));
    assert!(done.recv().is_err(), "nothing is said");
    for what in [CommandKind::Flush, CommandKind::Trim(512)] {
        let Err(Refusal::Invalid(why)) = bench.batch(&[(what, 0, false)]) else {
            panic!("{what:?}");
        };
        assert!(why.contains("commands[0]") && why.contains("read or a write"), "{why}");
    }
    assert_eq!(bench.export.store().allocated(), 0);
}
