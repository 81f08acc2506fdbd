//! Random batches, compared with an array of bytes.

use crate::served::*;
use proptest::prelude::*;
use sledsim_rpc::client::Command;

const BLOCKS: u64 = 6000;

/// Extents without overlap, and the operation on each.
fn batch() -> impl Strategy<Value = Vec<(u64, u32, bool, u8)>> {
    proptest::collection::vec((0..BLOCKS, 1..9u32, any::<bool>(), any::<u8>()), 1..20).prop_map(
        |mut wanted| {
            let mut taken = vec![false; BLOCKS as usize];
            wanted.retain(|(lbn, blocks, ..)| {
                let blocks = *lbn as usize..(lbn + u64::from(*blocks)) as usize;
                let is_free = blocks.end <= taken.len() && !taken[blocks.clone()].contains(&true);
                if is_free {
                    taken[blocks].fill(true);
                }
                is_free
            });
            wanted
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn as_an_array_of_bytes(batches in proptest::collection::vec(batch(), 1..30), under_way in 1..20usize) {
        let mut spec = export("m", device("cmu2003", &[]));
        spec.speed = 1e6;
        let served = Served::new(vec![spec]);
        let there = served.open("m");
        let mut twin = vec![0u8; BLOCKS as usize * 512];
        let mut pipeline = there.pipeline(under_way).unwrap();
        let mut wanted: Vec<Vec<Vec<u8>>> = Vec::new();
        let check = |pipeline: &mut sledsim_rpc::client::Pipeline, wanted: &[Vec<Vec<u8>>]| {
            let (tag, answer) = pipeline.receive().unwrap().unwrap();
            let outcomes = answer.unwrap().outcomes;
            let data: Vec<_> = outcomes.iter().map(|outcome| outcome.data.to_vec()).collect();
            assert!(data == wanted[tag as usize]);
        };
        for batch in batches.iter().filter(|batch| !batch.is_empty()) {
            let (mut commands, mut expected) = (Vec::new(), Vec::new());
            for &(lbn, blocks, writes, byte) in batch {
                let bytes = lbn as usize * 512..(lbn as usize + blocks as usize) * 512;
                if writes {
                    let data: Vec<u8> = bytes.clone().map(|at| byte.wrapping_add(at as u8)).collect();
                    twin[bytes].copy_from_slice(&data);
                    commands.push(write(lbn, data));
                    expected.push(Vec::new());
                } else {
                    commands.push(read(lbn, blocks));
                    expected.push(twin[bytes].to_vec());
                }
            }
            wanted.push(expected);
            if pipeline.is_full() {
                check(&mut pipeline, &wanted);
            }
            pipeline.send(commands, false).unwrap();
        }
        while pipeline.under_way() > 0 {
            check(&mut pipeline, &wanted);
        }
        let all = there.batch(&[Command::Read { lbn: 0, blocks: BLOCKS as u32 }], false).unwrap();
        prop_assert!(all.outcomes[0].data == twin);
    }
}
