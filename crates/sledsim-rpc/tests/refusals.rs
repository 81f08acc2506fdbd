//! Refused batches are not executed, and the message gives the reason.

use crate::served::*;
use sledsim_core::queueing::schedulers::SchedulerSpec;
use sledsim_rpc::client::{Code, Command, Error, Remote};

/// Sends a batch both ways; returns why it was refused.
fn refused(there: &Remote, commands: &[Command], must_be_parallel: bool) -> (Code, String) {
    let alone = there.batch(commands, must_be_parallel).unwrap_err();
    let mut pipeline = there.pipeline(2).unwrap();
    pipeline.send(commands.to_vec(), must_be_parallel).unwrap();
    let (_, streamed) = pipeline.receive().unwrap().unwrap();
    assert_eq!(streamed.unwrap_err(), alone, "the same in a stream");
    // The stream continues.
    pipeline.send(vec![read(0, 1)], false).unwrap();
    pipeline.receive().unwrap().unwrap().1.unwrap();
    match alone {
        Error::Refused { code, message } => (code, message),
        other => panic!("{other:?}"),
    }
}

/// Export, commands, whether they must be parallel, code, expected message.
type Case<'a> = (&'a str, Vec<Command>, bool, Code, &'a [&'a str]);

#[test]
fn a_refused_batch_is_not_executed() {
    let keys = [("conflicts", "{ kind = \"channel\", channels = 10 }")];
    let bus = "{ kind = \"power_bus\", squares_per_bus = 10, at_once = 4 }";
    let mut read_only = export("r", device("cmu2003", &[]));
    read_only.read_only = true;
    let served = Served::new(vec![
        export("m", device("cmu2003", &keys)),
        read_only,
        export("d", device("memory", &[])),
        export("n", device("cmu2003", &[("batching", "{ kind = \"none\" }")])),
        export("b", device("cmu2003", &[("conflicts", bus)])),
    ]);
    let ones = || vec![1; 512];
    let blocks = 6_750_000;
    let big = Command::Read { lbn: 0, blocks: 65_537 };
    let class = served.open("m").equivalent(33, None).unwrap();
    let two = [class[3].to_string(), class[13].to_string()];
    let two = ["must_be_parallel", &two[0], &two[1], "conflict"];
    let cases: Vec<Case<'_>> = vec![
        ("m", vec![], false, Code::InvalidArgument, &["a command at least"]),
        (
            "m",
            vec![write(0, ones()), read(1, 0)],
            false,
            Code::InvalidArgument,
            &["commands[1].read.blocks = 0", "at least 1"],
        ),
        (
            "m",
            vec![write(0, ones()), write(1, vec![1; 513])],
            false,
            Code::InvalidArgument,
            &["commands[1].write.data", "513", "512"],
        ),
        (
            "m",
            vec![write(0, ones()), write(1, vec![])],
            false,
            Code::InvalidArgument,
            &["commands[1].write.data", "one at least"],
        ),
        (
            "m",
            vec![write(0, ones()), read(blocks - 1, 2)],
            false,
            Code::InvalidArgument,
            &["commands[1]", "LBN 6749999", "2 blocks", "to 6749999"],
        ),
        (
            "m",
            vec![write(0, ones()), write(u64::MAX, ones())],
            true,
            Code::InvalidArgument,
            &["commands[1].lbn = 18446744073709551615"],
        ),
        (
            "m",
            vec![write(7, vec![1; 1024]), read(0, 8)],
            false,
            Code::InvalidArgument,
            &["LBNs 7 to 8", "LBNs 0 to 7", "overlap"],
        ),
        (
            "m",
            vec![write(0, ones()), write(0, ones())],
            true,
            Code::InvalidArgument,
            &["LBNs 0 to 0", "overlap"],
        ),
        (
            "m",
            vec![write(0, ones()), big],
            false,
            Code::ResourceExhausted,
            &["33555456 bytes", "at most 33554432"],
        ),
        (
            "m",
            vec![write(class[3], ones()), write(class[13], ones())],
            true,
            Code::FailedPrecondition,
            &two,
        ),
        (
            "b",
            class[..5].iter().map(|&lbn| write(lbn, ones())).collect(),
            true,
            Code::FailedPrecondition,
            &["must_be_parallel", "2 passes", "supports 4"],
        ),
        (
            "b",
            vec![write(0, vec![1; 11 * 512])],
            true,
            Code::FailedPrecondition,
            &["11 blocks", "p = 10"],
        ),
        (
            "r",
            vec![read(0, 1), write(9, ones())],
            false,
            Code::PermissionDenied,
            &["commands[1]", "'r'", "read-only", "LBN 9"],
        ),
        (
            "d",
            vec![write(0, ones()), write(9, ones())],
            false,
            Code::FailedPrecondition,
            &["'d'", "'memory'", "no single sled", "one command at a time"],
        ),
        (
            "d",
            vec![write(0, ones())],
            true,
            Code::FailedPrecondition,
            &["'d'", "no sled of its own"],
        ),
        (
            "n",
            vec![write(0, ones()), write(9, ones())],
            true,
            Code::FailedPrecondition,
            &["'n'", "[batching]"],
        ),
    ];
    for (name, commands, must_be_parallel, code, words) in cases {
        let there = served.open(name);
        let before = requests(&served, name);
        let (found, message) = refused(&there, &commands, must_be_parallel);
        assert_eq!(found, code, "{message}");
        for word in words {
            assert!(message.contains(word), "{message}: lacks {word}");
        }
        // Except for the read after it.
        served.until("served", |served| requests(served, name) > before);
        assert_eq!(requests(&served, name), before + 1, "{message}");
        assert_eq!(outstanding(&served, name), 0);
    }
    for name in ["m", "r", "d", "n", "b"] {
        let export = served.server.exports().named(name).unwrap();
        assert_eq!(export.store().allocated(), 0, "{name}: bytes were written");
    }
    served.until("gone", |served| served.rpc.clients() == 0);
    assert_eq!(served.rpc.to_json()["troubles"]["protocol_errors"]["count"], 0);
}

#[test]
fn batches_depend_on_export_and_scheduler() {
    let mut hosted = export("h", device("cmu2003", &[]));
    hosted.scheduler = SchedulerSpec::named("sptf").unwrap();
    let served = Served::new(vec![
        hosted,
        export("n", device("cmu2003", &[("batching", "{ kind = \"none\" }")])),
        export("a", device("atlas10k", &[])),
    ]);
    let client = served.client();
    let Err(Error::Refused { code, message }) = client.open("x") else {
        panic!();
    };
    assert_eq!(code, Code::NotFound);
    assert!(message.contains("'x'") && message.contains("h, n, a"), "{message}");
    assert_eq!(client.open("").unwrap().name(), "h");
    // Without batching, the commands of a pass are separate requests.
    for (name, is_one) in [("h", true), ("n", false)] {
        let there = client.open(name).unwrap();
        let class = there.equivalent(0, None).unwrap();
        let both = [read(class[0], 1), read(class[10], 1)];
        let answer = there.batch(&both, false).unwrap();
        let [a, b] = [0, 1].map(|index| answer.outcomes[index].row);
        assert_eq!(a.arrival, b.arrival);
        assert_eq!(a.start == b.start, is_one, "{name}");
    }
    let disk = client.open("a").unwrap();
    assert_eq!(disk.batch(&[read(5, 3)], false).unwrap().outcomes[0].data, vec![0; 1536]);
    for error in [
        disk.parallelism().unwrap_err(),
        disk.equivalent(0, None).unwrap_err(),
        disk.conflicting(0, 1, None).unwrap_err(),
        disk.boundaries(0).unwrap_err(),
    ] {
        let Error::Refused { code, message } = error else {
            panic!("{error:?}");
        };
        assert_eq!(code, Code::FailedPrecondition);
        assert!(message.contains("'atlas10k' is of kind 'disk'"), "{message}");
    }
}

/// Blocks under a failed tip are lost: that command fails, and the others are served.
#[test]
fn a_failed_command_does_not_fail_its_batch() {
    let faulty = device("cmu2003", &[("faults", "{ failed_tips = [0] }")]);
    let served = Served::new(vec![export("m", faulty)]);
    let there = served.open("m");
    let class = there.equivalent(0, None).unwrap();
    assert_eq!(class[0], 0, "on tips 0 to 63");
    let reads: Vec<_> = class.iter().step_by(30).map(|&lbn| read(lbn, 1)).collect();
    let answer = there.batch(&reads, true).unwrap();
    let (index, why) = answer.failure().unwrap();
    assert_eq!(index, 0);
    assert!(why.contains("Input/output error"), "{why}");
    assert!(answer.outcomes[0].data.is_empty());
    for outcome in &answer.outcomes[1..] {
        assert_eq!((&outcome.error, outcome.data.len()), (&None, 512));
    }
}
