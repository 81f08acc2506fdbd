//! A block is recoverable exactly if the code says so: checked on real bytes, with the
//! Reed-Solomon code of another library over tip sectors of 8 bytes.

use sledsim_base::random::Stream;
use sledsim_core::devices::mems::faults::{Code, TipSector};
use std::collections::BTreeMap;

const PATTERNS: usize = 10_000;

/// All tip sectors of a block with these data.
fn word(code: Code, data: &[[u8; 8]]) -> Vec<[u8; 8]> {
    let ecc = reed_solomon_simd::encode(code.data as usize, code.ecc as usize, data);
    let ecc = ecc.expect("a code word");
    let ecc = ecc.iter().map(|sector| sector[..].try_into().expect("8 bytes"));
    data.iter().copied().chain(ecc).collect()
}

/// Decodes the data of a block from known tip sectors; an error if they are too few.
fn decode(code: Code, known: &BTreeMap<usize, [u8; 8]>) -> Result<Vec<[u8; 8]>, String> {
    let data = code.data as usize;
    let given = known.iter().filter(|(tip, _)| **tip < data);
    let ecc = known.iter().filter(|(tip, _)| **tip >= data);
    let restored = reed_solomon_simd::decode(
        data,
        code.ecc as usize,
        given.clone().map(|(tip, sector)| (*tip, sector)),
        ecc.map(|(tip, sector)| (tip - data, sector)),
    )
    .map_err(|error| error.to_string())?;
    let sector = |tip: usize| match known.get(&tip) {
        Some(sector) => *sector,
        None => restored[&tip][..].try_into().expect("8 bytes"),
    };
    Ok((0..data).map(sector).collect())
}

fn random_data(code: Code, random: &mut Stream) -> Vec<[u8; 8]> {
    (0..code.data).map(|_| random.u64().to_le_bytes()).collect()
}

/// Some of `0..n`, in random order.
fn some(n: u32, count: u32, random: &mut Stream) -> Vec<usize> {
    let mut all: Vec<usize> = (0..n as usize).collect();
    for place in 0..count as usize {
        let other = place + random.below(all.len() as u64 - place as u64) as usize;
        all.swap(place, other);
    }
    all.truncate(count as usize);
    all
}

/// The block of the paper and others.
fn random_code(vertical: bool, random: &mut Stream) -> Code {
    Code {
        data: [64, 64, 32, 7, 2][random.below(5) as usize],
        ecc: 1 + random.below(12) as u32,
        vertical,
    }
}

#[test]
fn recoverable_blocks_decode_and_others_do_not() {
    let mut random = Stream::new(1, "patterns");
    let (mut recovered, mut lost) = (0, 0);
    while recovered < PATTERNS || lost < PATTERNS {
        let code = random_code(true, &mut random);
        let n = code.tips();
        // About as many as it tolerates, missing or wrong.
        let bad = (random.below(u64::from(2 * code.ecc + 2)) as u32).min(n);
        let mut sectors = vec![TipSector::Right; n as usize];
        for tip in some(n, bad, &mut random) {
            sectors[tip] = match random.chance(0.5) {
                true => TipSector::Missing,
                false => TipSector::Wrong,
            };
        }
        let data = random_data(code, &mut random);
        let written = word(code, &data);
        // The vertical check detects wrong sectors: they are left out.
        let right = |tip: &usize| sectors[*tip] == TipSector::Right;
        let mut known: BTreeMap<usize, [u8; 8]> =
            (0..n as usize).filter(right).map(|tip| (tip, written[tip])).collect();
        if code.is_recoverable(&sectors) {
            assert_eq!(decode(code, &known).expect("recoverable"), data);
            recovered += 1;
            continue;
        }
        lost += 1;
        decode(code, &known).expect_err("the decoder refuses");
        // No code could do better: other data have the same sectors there.
        let survivors = known.clone();
        for tip in (0..n as usize).filter(|tip| !right(tip)) {
            if known.len() < code.data as usize {
                let mut other = written[tip];
                other[random.below(8) as usize] ^= 1 + random.below(255) as u8;
                known.insert(tip, other);
            }
        }
        let others = decode(code, &known).expect("as many as there are data");
        assert_ne!(others, data);
        let also_written = word(code, &others);
        assert!(survivors.iter().all(|(tip, sector)| also_written[*tip] == *sector));
    }
}

/// Every choice of `count` of `from`.
fn choices(from: &[usize], count: usize) -> Vec<Vec<usize>> {
    match (from, count) {
        (_, 0) => vec![Vec::new()],
        ([], _) => Vec::new(),
        ([first, rest @ ..], _) => {
            let mut with = choices(rest, count - 1);
            with.iter_mut().for_each(|choice| choice.push(*first));
            with.extend(choices(rest, count));
            with
        }
    }
}

#[test]
fn an_error_without_vertical_check_costs_two_tips() {
    // Small enough to check every code word that agrees with enough of the sectors
    // read: either it is the only one, or there is another.
    let mut random = Stream::new(2, "patterns");
    let (mut recovered, mut lost) = (0, 0);
    while recovered < 400 || lost < 400 {
        let code = Code { data: 3, ecc: 1 + random.below(4) as u32, vertical: false };
        let (n, ecc) = (code.tips(), code.ecc as usize);
        let missing = random.below(u64::from(code.ecc) + 1) as usize;
        let wrong = random.below(3) as usize;
        if missing + wrong > ecc + 1 {
            continue;
        }
        // Two code words that differ in as few positions as possible, the bad sectors
        // among them.
        let places = some(n, code.ecc + 1, &mut random);
        let data = random_data(code, &mut random);
        let written = word(code, &data);
        let mut same: BTreeMap<usize, [u8; 8]> = (0..n as usize)
            .filter(|tip| !places.contains(tip))
            .map(|tip| (tip, written[tip]))
            .collect();
        let mut changed = written[places[0]];
        changed[0] ^= 1;
        same.insert(places[0], changed);
        let other = word(code, &decode(code, &same).expect("a word"));
        assert!(places.iter().all(|tip| other[*tip] != written[*tip]));
        // The sectors read: some missing, some as in the other word.
        let mut read: Vec<Option<[u8; 8]>> = written.iter().copied().map(Some).collect();
        let mut sectors = vec![TipSector::Right; n as usize];
        for (index, &tip) in places.iter().enumerate().take(missing + wrong) {
            if index < missing {
                (read[tip], sectors[tip]) = (None, TipSector::Missing);
            } else {
                (read[tip], sectors[tip]) = (Some(other[tip]), TipSector::Wrong);
            }
        }
        let apart = |word: &[[u8; 8]]| {
            let pairs = word.iter().zip(&read);
            pairs.filter(|(sector, read)| read.is_some_and(|read| read != **sector)).count()
        };
        assert_eq!(apart(&written), wrong);
        let present: Vec<usize> = (0..n as usize).filter(|tip| read[*tip].is_some()).collect();
        let is_other = |choice: &Vec<usize>| {
            let known = choice.iter().filter_map(|tip| Some((*tip, read[*tip]?))).collect();
            let candidate = word(code, &decode(code, &known).expect("a word"));
            candidate != written && apart(&candidate) <= wrong
        };
        let others = choices(&present, code.data as usize).iter().filter(|c| is_other(c)).count();
        if code.is_recoverable(&sectors) {
            assert_eq!(others, 0, "{code:?} {sectors:?}");
            recovered += 1;
        } else {
            assert!(others > 0 || present.len() < 3, "{code:?} {sectors:?}");
            lost += 1;
        }
    }
}
