//! Any commands over any connections give the same contents as in an array.

use super::client::*;
use proptest::prelude::*;

const BYTES: u64 = 256 << 10;

#[derive(Clone, Debug)]
struct Step {
    client: usize,
    command: u16,
    fua: bool,
    block: u64,
    blocks: u64,
    value: u8,
}

fn step() -> impl Strategy<Value = Step> {
    let command = prop::sample::select(vec![
        READ,
        READ,
        WRITE,
        WRITE,
        FLUSH,
        TRIM,
        CACHE,
        WRITE_ZEROES,
        BLOCK_STATUS,
    ]);
    let place = (0..BYTES / 512, 0..64u64);
    (0..3usize, command, any::<bool>(), place, any::<u8>()).prop_map(
        |(client, command, fua, (block, blocks), value)| Step {
            client,
            command,
            fua,
            block,
            blocks: blocks.min(BYTES / 512 - block),
            value,
        },
    )
}

/// Executes a step on the array and on the device.
fn take(step: &Step, client: &mut Client, array: &mut [u8]) {
    let (offset, length) = (step.block * 512, (step.blocks * 512) as u32);
    let here = &mut array[offset as usize..][..length as usize];
    let flags = u16::from(step.fua);
    match step.command {
        READ => assert!(client.read(offset, length).unwrap() == here),
        WRITE => {
            let value = step.value;
            for (at, byte) in here.iter_mut().enumerate() {
                *byte = value.wrapping_add((at / 512) as u8);
            }
            assert_eq!(client.write_with(flags, offset, here), Ok(()));
        }
        FLUSH => assert_eq!(client.command(FLUSH, flags, 0, 0), Ok(())),
        CACHE => assert_eq!(client.command(CACHE, flags, offset, length), Ok(())),
        BLOCK_STATUS if !client.structured || length == 0 => {}
        BLOCK_STATUS => {
            let mut at = 0;
            for [bytes, state] in client.status(0, offset, length).unwrap() {
                let zero = here[at..at + bytes as usize].iter().all(|byte| *byte == 0);
                assert!(bytes > 0 && (state == 0 || (state == 3 && zero)));
                at += bytes as usize;
            }
            assert_eq!(at, length as usize);
        }
        command => {
            let no_hole = if step.value.is_multiple_of(2) { NO_HOLE } else { 0 };
            let flags = if command == WRITE_ZEROES { flags | no_hole } else { flags };
            assert_eq!(client.command(command, flags, offset, length), Ok(()));
            here.fill(0);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn it_is_an_array(steps in prop::collection::vec(step(), 1..60), in_file: bool) {
        let folder = tempfile::tempdir().unwrap();
        let file = in_file.then(|| folder.path().join("d.img"));
        let served = Served::new(&[Wanted { file: file.clone(), ..Wanted::quick("d", BYTES) }]);
        let mut clients = [
            Client::simple(&served.socket, "d"),
            Client::ready(&served.socket, "d"),
            Client::ready(&served.socket, ""),
        ];
        let mut array = vec![0; BYTES as usize];
        for step in &steps {
            take(step, &mut clients[step.client], &mut array);
        }
        for client in &mut clients {
            prop_assert!(client.read(0, BYTES as u32).unwrap() == array);
        }
        if let Some(file) = file {
            prop_assert_eq!(clients[0].command(FLUSH, 0, 0, 0), Ok(()));
            prop_assert!(std::fs::read(file).unwrap() == array);
        }
    }

    /// Concurrent requests to separate blocks: each is answered once, with the data
    /// there.
    #[test]
    fn many_at_once(
        kinds in prop::collection::vec((0..3u8, 1..16u64, any::<u8>()), 1..100),
        latency_ms in prop::sample::select(vec![0.0, 0.02]),
        cut in 1..5000usize,
    ) {
        let served = Served::new(&[Wanted::slow("d", 4 << 20, latency_ms)]);
        let mut client = Client::ready(&served.socket, "d");
        let place = |at: usize| at as u64 * 16 * 512;
        let old = |at: usize| vec![at as u8 ^ 0x5a; 16 * 512];
        for at in 0..kinds.len() {
            prop_assert_eq!(client.write(place(at), &old(at)), Ok(()));
        }
        let mut all = Vec::new();
        for (at, (kind, blocks, value)) in kinds.iter().enumerate() {
            let length = (blocks * 512) as u32;
            match kind {
                0 => all.extend(request(READ, 0, at as u64, place(at), length)),
                1 => {
                    all.extend(request(WRITE, 0, at as u64, place(at), length));
                    all.extend(vec![*value; length as usize]);
                }
                _ => all.extend(request(TRIM, 0, at as u64, place(at), length)),
            }
        }
        // In pieces unrelated to the boundaries of requests.
        let (first, rest) = all.split_at(cut.min(all.len()));
        client.say(first);
        for piece in rest.chunks(70_000) {
            client.say(piece);
        }
        let mut seen = vec![false; kinds.len()];
        for _ in &kinds {
            let answer = client.answer(0);
            let at = answer.cookie as usize;
            prop_assert!(!std::mem::replace(&mut seen[at], true), "answered twice");
            prop_assert_eq!(answer.error, 0);
            if kinds[at].0 == 0 {
                let length = (kinds[at].1 * 512) as u32;
                let data = data_of(answer, place(at), length).unwrap();
                prop_assert!(data == old(at)[..length as usize]);
            }
        }
        for (at, (kind, blocks, value)) in kinds.iter().enumerate() {
            let mut expected = old(at);
            match kind {
                1 => expected[..*blocks as usize * 512].fill(*value),
                2 => expected[..*blocks as usize * 512].fill(0),
                _ => {}
            }
            prop_assert!(client.read(place(at), 16 * 512).unwrap() == expected);
        }
    }
}
