//! Accesses: the passes of a request, each with the seek before it.

use super::motion::{Direction, Motion, Seek, SledState, XSeek};
use super::moves_ahead::MovesAhead;
use super::passes::{Pass, Passes};
use crate::devices::mems::parallel::Planner;
use crate::model::mechanism::Step;
use sledsim_base::request::Extent;
use sledsim_base::units::Nanos;
use smallvec::SmallVec;

/// How the direction of a pass is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DirectionRule {
    /// Each pass on its own: up only if strictly faster than down.
    GreedyRow,
    /// Each run of passes over neighbouring rows is swept as a whole in the faster
    /// direction; rows may be accessed in reverse LBN order.
    BestRun,
    /// Always up: the device reads in one direction only.
    AlwaysUp,
}

/// A run of passes, held inline up to 64.
type Run = SmallVec<[Pass; 64]>;

/// Serves `extents` in order from `state`. Calls `emit` with one step per pass and
/// leaves the final state of the sled in `state`. `ahead` may know the first move in X;
/// `elapsed_s` is the time already spent on the request.
pub fn access(
    motion: &Motion,
    rule: DirectionRule,
    state: &mut SledState,
    extents: &[Extent],
    ahead: &mut MovesAhead,
    elapsed_s: f64,
    emit: &mut impl FnMut(Step),
) {
    match rule {
        DirectionRule::BestRun => access_runs(motion, state, extents, elapsed_s, emit),
        _ => access_rows(motion, rule, state, extents, ahead, elapsed_s, emit),
    }
}

/// As [`access`] under the other rules than [`DirectionRule::BestRun`].
#[inline(always)] // hot
pub fn access_rows(
    motion: &Motion,
    rule: DirectionRule,
    state: &mut SledState,
    extents: &[Extent],
    ahead: &mut MovesAhead,
    mut elapsed_s: f64,
    emit: &mut impl FnMut(Step),
) {
    let row_s = motion.row_s();
    let passes = Passes::new(&motion.geometry, extents);
    let forced = (rule == DirectionRule::AlwaysUp).then_some(Direction::Up);
    let mut is_first = true;
    for pass in passes {
        let x = match is_first {
            true => ahead.take(motion, state.x_m, pass.cylinder),
            false => x_seek(motion, state, &pass),
        };
        is_first = false;
        step(motion, state, &pass, &x, forced, row_s, &mut elapsed_s, emit);
    }
}

/// As [`access`] under [`DirectionRule::BestRun`].
pub fn access_runs(
    motion: &Motion,
    state: &mut SledState,
    extents: &[Extent],
    mut elapsed_s: f64,
    emit: &mut impl FnMut(Step),
) {
    let row_s = motion.row_s();
    let mut passes = Passes::new(&motion.geometry, extents);
    while let Some(mut run) = next_run(&mut passes) {
        let (_, up) = seek_to_run(motion, state, &run);
        if up != (run[0].row <= run[run.len() - 1].row) {
            run.reverse();
        }
        let forced = Some(if up { Direction::Up } else { Direction::Down });
        for pass in &run {
            let x = x_seek(motion, state, pass);
            step(motion, state, pass, &x, forced, row_s, &mut elapsed_s, emit);
        }
    }
}

/// The seek before the first pass of [`access`]. `None` without extents.
pub fn first_seek(
    motion: &Motion,
    rule: DirectionRule,
    state: &SledState,
    extents: &[Extent],
) -> Option<Seek> {
    if rule == DirectionRule::BestRun {
        let run = next_run(&mut Passes::new(&motion.geometry, extents))?;
        return Some(seek_to_run(motion, state, &run).0);
    }
    let first = extents.iter().find(|extent| extent.blocks > 0)?;
    let place = motion.geometry.locate(first.lbn);
    let pass = Pass { cylinder: place.cylinder, row: place.row, ..Pass::default() };
    let forced = (rule == DirectionRule::AlwaysUp).then_some(Direction::Up);
    Some(motion.seek_to_row(state, &x_seek(motion, state, &pass), pass.row, forced).0)
}

/// Serves a plan from `state`, as [`access`] does; `emit` also gets the index of the
/// pass in the plan. Each sweep goes in the direction with the faster seek.
pub fn access_planned(
    motion: &Motion,
    rule: DirectionRule,
    state: &mut SledState,
    plan: &Planner,
    mut elapsed_s: f64,
    mut emit: impl FnMut(Step, usize),
) {
    let row_s = motion.row_s();
    let passes = plan.passes();
    let pass = |index: usize| {
        let lbns = plan.lbns(&passes[index]);
        Pass {
            cylinder: passes[index].cylinder,
            row: passes[index].row,
            lbn: lbns[0],
            blocks: lbns.len() as u32,
        }
    };
    let mut first = 0;
    for sweep in passes.chunk_by(|a, b| (a.cylinder, a.sweep) == (b.cylinder, b.sweep)) {
        let last = first + sweep.len() - 1;
        let up = match rule {
            DirectionRule::AlwaysUp => true,
            _ => seek_to_run(motion, state, &[pass(first), pass(last)]).1,
        };
        let forced = Some(if up { Direction::Up } else { Direction::Down });
        for step_of in 0..sweep.len() {
            let index = if up { first + step_of } else { last - step_of };
            let mut emit = |step| emit(step, index);
            let pass = pass(index);
            let x = x_seek(motion, state, &pass);
            step(motion, state, &pass, &x, forced, row_s, &mut elapsed_s, &mut emit);
        }
        first = last + 1;
    }
}

/// The seek before the first pass of [`access_planned`]. `None` for an empty plan.
pub fn first_planned_seek(
    motion: &Motion,
    rule: DirectionRule,
    state: &SledState,
    plan: &Planner,
) -> Option<Seek> {
    let sweep = (plan.passes()).chunk_by(|a, b| (a.cylinder, a.sweep) == (b.cylinder, b.sweep));
    let sweep = sweep.into_iter().next()?;
    let end = |pass: &crate::devices::mems::parallel::PlannedPass| Pass {
        cylinder: pass.cylinder,
        row: pass.row,
        ..Pass::default()
    };
    let (first, last) = (end(&sweep[0]), end(&sweep[sweep.len() - 1]));
    Some(match rule {
        DirectionRule::AlwaysUp => {
            let x = x_seek(motion, state, &first);
            motion.seek_to_row(state, &x, first.row, Some(Direction::Up)).0
        }
        _ => seek_to_run(motion, state, &[first, last]).0,
    })
}

/// The X part of the seek to a pass.
#[inline(always)]
fn x_seek(motion: &Motion, state: &SledState, pass: &Pass) -> XSeek {
    motion.x_seek(state.x_m, motion.geometry.x_m(pass.cylinder))
}

/// Performs one pass, seek and transfer, and leaves its final state in `state`.
#[inline(always)] // hot: once a pass
#[expect(clippy::too_many_arguments, reason = "one call, inlined, three times")]
fn step(
    motion: &Motion,
    state: &mut SledState,
    pass: &Pass,
    x: &XSeek,
    forced: Option<Direction>,
    row_s: f64,
    elapsed_s: &mut f64,
    emit: &mut impl FnMut(Step),
) {
    let (seek, is_up) = motion.seek_to_row(state, x, pass.row, forced);
    *elapsed_s += seek.seek_s + row_s;
    emit(Step {
        seek_s: seek.seek_s,
        x_seek_s: seek.x_seek_s,
        y_seek_s: seek.y_seek_s,
        settle_s: seek.settle_s,
        turnaround_s: seek.turnaround_s,
        transfer_s: row_s,
        turns: seek.turns,
        direction: 2 * i8::from(is_up) - 1,
        cylinder: pass.cylinder,
        lbn: pass.lbn,
        blocks: pass.blocks,
        end: Nanos::from_s(*elapsed_s),
        ..Step::default()
    });
    state.x_m = motion.geometry.x_m(pass.cylinder);
    state.y = motion.end_of_pass(is_up, pass.row);
    state.turning_s = 0.0;
}

/// The faster of the seeks to the two ends of a run, and whether it starts an upward
/// sweep.
fn seek_to_run(motion: &Motion, state: &SledState, run: &[Pass]) -> (Seek, bool) {
    let (first, last) = (run[0], run[run.len() - 1]);
    let (low, high) = (first.row.min(last.row), first.row.max(last.row));
    let x_m = motion.geometry.x_m(first.cylinder);
    let up = motion.edge(Direction::Up, low);
    let down = motion.edge(Direction::Down, high + 1);
    motion.faster_seek(state, x_m, &up, &down)
}

/// Takes the next run: passes in one cylinder over consecutive rows in one direction.
/// `None` at the end.
fn next_run(passes: &mut Passes<'_>) -> Option<Run> {
    let mut run: Run = SmallVec::new();
    run.push(passes.next()?);
    loop {
        let mut ahead = *passes;
        let last = run[run.len() - 1];
        let Some(next) = ahead.next() else { break };
        let way = i64::from(next.row) - i64::from(last.row);
        let first_way =
            run.get(1).map_or(way, |second| i64::from(second.row) - i64::from(run[0].row));
        if next.cylinder != last.cylinder || way.abs() != 1 || way != first_way {
            break;
        }
        run.push(next);
        *passes = ahead;
    }
    Some(run)
}
