//! Fewer tips at once: savings and their price.

use super::{Keys, bare_disk, bare_sled, close, model, poisson, run};
use crate::common::{device, run_open};
use sledsim_base::request::{Extent, Op, Request};
use sledsim_base::row::Row;
use sledsim_base::units::Nanos;
use sledsim_core::model::Energy;

#[test]
fn fewer_active_tips_take_longer_and_draw_less_at_once() {
    // A row of 20 blocks: with 5 at once four passes over the same row.
    let read = |id, blocks| Request::new(id, Nanos(id * 20_000_000), Op::Read, 5_400, blocks);
    let requests = [read(0, 20), read(1, 5), read(2, 20), read(3, 1)];
    let of = |tips: &str| run("g2", &bare_sled(&[("power.max_active_tips", tips)]), &requests);
    let (all, all_j, _) = of("1280");
    let (few, few_j, _) = of("320");
    let bare = run("g2", &bare_sled(&[]), &requests);
    assert_eq!((all.clone(), all_j), (bare.0, bare.1), "1280 is what g2 has");
    assert_eq!(all.iter().map(|row| row.passes).collect::<Vec<_>>(), [1, 1, 1, 1]);
    assert_eq!(few.iter().map(|row| row.passes).collect::<Vec<_>>(), [4, 1, 4, 1]);
    // Going back over the same row costs a turnaround; .0398 to .279 ms.
    let again = few[0].parts.seek - all[0].parts.seek;
    assert!(again.0 > 3 * 39_800 && again.0 < 3 * 279_000, "{again}");
    // The tips that are asked for draw as much, four times a quarter.
    let tips_j = |energy: &Energy, rows: &[Row]| {
        let transfer_s: f64 = rows.iter().map(|row| row.parts.transfer.s()).sum();
        energy.transfer_j - 0.1 * transfer_s
    };
    close(tips_j(&all_j, &all), tips_j(&few_j, &few), 1e-5);
    // Where the data are does not depend on it.
    let places = |tips: &str| {
        let keys = [("power.max_active_tips", tips)];
        let device = device("g2", &keys);
        let geometry = device.mems().expect("a sled").geometry;
        (0..5000).map(|n| geometry.locate(n * 1337)).collect::<Vec<_>>()
    };
    assert_eq!(places("64"), places("1280"));
}

/// Energy of the tips in a run: of the transfer, all but the sled.
fn tips_j(keys: &Keys<'_>, requests: &[Request]) -> (f64, Vec<Row>) {
    let (mut rows, energy, _) = run("g2", &bare_sled(keys), requests);
    let transfer_s: f64 = rows.iter().map(|row| row.parts.transfer.s()).sum();
    rows.iter_mut().for_each(|row| row.energy_nj = 0);
    (energy.transfer_j - 0.1 * transfer_s, rows)
}

#[test]
fn compression_saves_its_share_of_the_tips_and_no_time() {
    let requests = poisson(6_000_000, 500, 0.01, 40, 11);
    let (all, rows) = tips_j(&[], &requests);
    for (share, value) in [("0.5", 0.5), ("0.25", 0.25)] {
        let (compressed, same) = tips_j(&[("power.compressed_to", share)], &requests);
        close(compressed, value * all, 1e-5);
        assert_eq!(rows, same);
    }
}

#[test]
fn a_read_of_a_part_of_a_block_powers_the_tips_that_hold_it() {
    let keys = [("power.small_read_bytes", "100")];
    let at = |id: u64| Nanos(id * 20_000_000);
    let ratio = |op, blocks| {
        let requests: Vec<Request> =
            (0..50).map(|id| Request::new(id, at(id), op, id * 1000, blocks)).collect();
        let ((all, rows), (some, same)) = (tips_j(&[], &requests), tips_j(&keys, &requests));
        assert_eq!(rows, same);
        some / all
    };
    // 100 bytes lie in 13 tip sectors of 8 bytes, of 64.
    close(ratio(Op::Read, 1), 13.0 / 64.0, 1e-5);
    close(ratio(Op::Read, 2), 1.0, 1e-9);
    close(ratio(Op::Write, 1), 1.0, 1e-9);
    // Of several extents those of one block count.
    let extents: [Extent; 2] = [(0, 1), (100, 3)].map(|(lbn, blocks)| Extent { lbn, blocks });
    let mut request = Request::new(0, Nanos::ZERO, Op::Read, 0, 1);
    request.extents = extents.into_iter().collect();
    let ((all, _), (some, _)) = (tips_j(&[], &[request.clone()]), tips_j(&keys, &[request]));
    close(some / all, (13.0 / 64.0 + 3.0) / 4.0, 1e-4);
    // Compressed, as much less.
    let both = [keys[0], ("power.compressed_to", "0.5")];
    let (less, _) = tips_j(&both, &[Request::new(0, Nanos::ZERO, Op::Read, 0, 1)]);
    let (block, _) = tips_j(&[], &[Request::new(0, Nanos::ZERO, Op::Read, 0, 1)]);
    close(less / block, 0.5 * 13.0 / 64.0, 1e-4);
}

#[test]
fn writing_one_block_again_and_again_takes_a_revolution_or_a_turnaround() {
    let again = |name: &str, keys: &Keys<'_>, lbn: u64| {
        let mut model = model(name, keys);
        let mut at = Nanos(1_000_000);
        let mut periods = Vec::new();
        for id in 0..12 {
            let request = Request::new(id, at, Op::Write, lbn, 1);
            let rows = run_open(&mut *model, &[request]).done;
            periods.push(rows[0].completion - at);
            at = rows[0].completion;
        }
        periods.split_off(2)
    };
    let revolution = 60.0 / 10_025.0;
    for period in again("atlas10k", &bare_disk(&[]), 5_000_000) {
        close(period.s(), revolution, 1e-6);
    }
    // A row of 90 bits at 700 kbit/s, on over the 10 servo bits of the other
    // direction (14.3 us at the speed of access, less with a push), and a turnaround:
    // .0697 ms at the centre, here 2 um outward of it less by 3 %.
    let centre = device("g2", &[]).mems().expect("a sled").geometry;
    let lbn = (0..centre.blocks()).step_by(20).find(|&lbn| centre.locate(lbn).row == 13);
    for period in again("g2", &bare_sled(&[]), lbn.expect("a row")) {
        let turn_ms = period.ms() - 90.0 / 700.0;
        assert!((0.0677..0.0677 + 0.0144).contains(&turn_ms), "{turn_ms}");
    }
}
