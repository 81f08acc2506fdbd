//! Sleds that a host tells to rest.

use crate::common::{Rows, device, energy, run_open};
use sledsim_base::request::{Op, Request};
use sledsim_base::units::Nanos;
use sledsim_core::model::{Model, Rest};
use sledsim_core::queueing::schedulers::SchedulerSpec;

/// A time in us.
fn us(us: u64) -> Nanos {
    Nanos(1000 * us)
}

fn model(keys: &[(&str, &str)]) -> Box<dyn Model> {
    let scheduler = SchedulerSpec::default();
    let built = device("g2", keys).build_with(&scheduler);
    built.expect("a model").0
}

/// A request is with the sled from its arrival to its completion.
const KEYS: [(&str, &str); 2] = [("command_overhead_ms", "0"), ("bus_ms_per_block", "0")];

/// Its own policy lets it always be ready.
fn ready() -> Box<dyn Model> {
    model(&[&KEYS[..], &[("power.policy", "'never'")]].concat())
}

fn read(id: u64, at: Nanos) -> Request {
    Request::new(id, at, Op::Read, 1000 * id, 8)
}

/// Until its next request, a sled that rests is one whose timeout has passed then: same
/// times, same energy. After that its own policy holds again.
#[test]
fn a_rest_is_a_timeout_of_one_idle_period() {
    let (rests_at, next, third) = (us(60_000), us(90_000), us(200_000));
    let mut told = ready();
    let mut rows = run_open(&mut *told, &[read(0, Nanos(0))]);
    let idle = rests_at - rows.done[0].completion;
    assert_eq!(told.rest(rests_at), Rest::Rests);
    rows.done.extend(run_open(&mut *told, &[read(1, next)]).done);

    let timeout = format!("{}", idle.0 as f64 / 1e6);
    let keys = [("power.policy", "'timeout'"), ("power.timeout_ms", timeout.as_str())];
    let mut timed = model(&[&KEYS[..], &keys].concat());
    let twins = run_open(&mut *timed, &[read(0, Nanos(0)), read(1, next)]);
    assert_eq!(rows.done, twins.done);
    let end = rows.done[1].completion;
    assert_eq!(energy(&*told, end), energy(&*timed, end));
    assert!(energy(&*told, end).startup_j > 0.0 && energy(&*told, end).inactive_j > 0.0);
    assert!(rows.done[1].parts.other > Nanos::ZERO);

    let Rows { done, .. } = run_open(&mut *told, &[read(2, third)]);
    assert_eq!(done[0].parts.other, Nanos::ZERO);
}

/// A request at the very instant of the rest finds the sled ready; it ends the idle period
/// all the same.
#[test]
fn a_rest_without_idle_time_changes_nothing() {
    let mut told = ready();
    let mut twin = ready();
    let end = run_open(&mut *told, &[read(0, Nanos(0))]).done[0].completion;
    let _ = run_open(&mut *twin, &[read(0, Nanos(0))]);
    assert_eq!(told.rest(end), Rest::Rests);
    let next = [read(1, end), read(2, us(90_000))];
    let (one, other) = (run_open(&mut *told, &next), run_open(&mut *twin, &next));
    assert_eq!(one.done[1], other.done[1]);
}

#[test]
fn a_sled_with_work_does_not_rest_and_other_devices_cannot() {
    let mut busy = model(&[]);
    let mut rows = Rows::default();
    busy.submit(read(0, Nanos(0)), &mut rows);
    assert_eq!(busy.rest(Nanos(10)), Rest::Works);
    for name in ["memory", "atlas10k"] {
        let scheduler = SchedulerSpec::default();
        let mut other = device(name, &[]).build_with(&scheduler).expect("a model").0;
        assert_eq!(other.rest(us(10)), Rest::Cannot);
    }
}
