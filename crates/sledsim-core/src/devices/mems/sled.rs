//! The sled: a mechanism that holds its position, coasts or parks when idle.

use super::access::{
    DirectionRule, access_planned, access_rows, access_runs, first_planned_seek, first_seek,
};
use super::estimates::{Estimates, on_cylinder};
use super::idle::{Idle, Park, coast, park_state};
use super::motion::{Direction, Motion, SledState};
use super::moves_ahead::MovesAhead;
use super::parallel::Parallel;
use super::planning::Planning;
use super::power::{PassEnergy, Power, Savings, TipPower};
use crate::idle_policy::{IdleTracker, PowerOn, PowerPolicySpec};
use crate::model::mechanism::{
    BlockOrder, Bounds, Mechanism, Media, Passes, Positions, Span, Start, Step, Tips,
};
use crate::model::{Background, BatchPlanner, Energy};
use sledsim_base::request::{Extent, Flags, Op, Request};
use sledsim_base::row::{Parts, Path, Place, Row, Status};
use sledsim_base::units::Nanos;
use smallvec::SmallVec;
use std::cell::OnceCell;

/// The behaviour of a sled besides its motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Behaviour {
    /// How the direction of a pass is chosen.
    pub direction: DirectionRule,
    /// What the sled does after a request.
    pub idle: Idle,
    /// The park position.
    pub park: Park,
    /// When the sled parks.
    pub policy: PowerPolicySpec,
    /// State at time zero.
    pub start: PowerOn,
    /// Time to wake from the parked state, in s.
    pub startup_s: f64,
    /// Power by state.
    pub power: Power,
    /// Settings that save energy.
    pub savings: Savings,
}

/// A sled as a [`Mechanism`].
#[derive(Clone, Debug)]
pub struct Sled {
    motion: Motion,
    behaviour: Behaviour,
    parked: SledState,
    /// State after the last request.
    state: SledState,
    /// Where that is, as rows have it.
    place: Place,
    /// End of the last request; before the first, the time at which the sled is ready.
    free: Nanos,
    /// Idle timeout and learning.
    watch: IdleTracker,
    energy: Energy,
    ahead: MovesAhead,
    /// Made when a scheduler first asks.
    estimates: OnceCell<Estimates>,
    plans: Option<Box<Planning>>,
    /// Cylinders to pass by before the next request.
    passing: SmallVec<[u32; 2]>,
}

/// The time to wake up or to become ready before a service.
struct Startup {
    wait_s: f64,
    /// The part of it that is charged to the request.
    woken_s: f64,
}

/// The passes of a service so far.
struct Totals<'a> {
    parts: Parts,
    count: u32,
    /// The end of the last one.
    end: Nanos,
    energy: PassEnergy,
    tips: TipPower,
    passes: &'a mut Passes,
    /// The cylinder of the last pass, and the cylinders moved over.
    cylinder: u32,
    cylinders: u64,
}

impl<'a> Totals<'a> {
    /// None yet, of a service that begins at `cylinder` after `wait_s`.
    #[inline(always)] // as add
    fn new(wait_s: f64, cylinder: u32, tips: TipPower, passes: &'a mut Passes) -> Self {
        let end = Nanos::from_s(wait_s);
        let parts = Parts { other: end, ..Parts::default() };
        let energy = PassEnergy::default();
        Self { parts, count: 0, end, energy, tips, passes, cylinder, cylinders: 0 }
    }

    /// Adds a move in X to `cylinder`, without a pass.
    fn pass_by(&mut self, took_s: f64, cylinder: u32) {
        let took = Nanos::from_s(took_s);
        self.parts.seek += took;
        self.parts.x_seek += took;
        self.end += took;
        self.energy.add(&self.tips, took_s, 0.0, 0);
        self.cylinders += u64::from(self.cylinder.abs_diff(cylinder));
        self.cylinder = cylinder;
    }

    /// Adds a pass.
    #[inline(always)] // hot: once a pass
    fn add(&mut self, mut step: Step) {
        step.add_to(&mut self.parts, self.end);
        self.end = step.end;
        self.count += 1;
        self.cylinders += u64::from(self.cylinder.abs_diff(step.cylinder));
        self.cylinder = step.cylinder;
        let pass_mj = self.energy.add(&self.tips, step.seek_s, step.transfer_s, step.blocks);
        step.energy_j = 1e-3 * pass_mj;
        self.passes.push(step);
    }
}

/// Where a state is, as rows have it.
fn place_of(motion: &Motion, state: &SledState) -> Place {
    motion.place(state, motion.geometry.nearest_cylinder(state.x_m))
}

impl Sled {
    /// Creates a sled at its park position at time zero; awake, unless it starts off.
    pub fn new(motion: Motion, behaviour: Behaviour) -> Self {
        let parked = park_state(&motion, behaviour.park);
        let place = place_of(&motion, &parked);
        Self {
            motion,
            behaviour,
            parked,
            state: parked,
            place,
            free: behaviour.start.ready,
            watch: IdleTracker::new(&behaviour.policy),
            energy: Energy::default(),
            ahead: MovesAhead::default(),
            estimates: OnceCell::new(),
            plans: None,
            passing: SmallVec::new(),
        }
    }

    /// Returns the sled with batches and conflicts planned by `parallel`.
    pub fn with_parallel(mut self, parallel: Parallel) -> Self {
        self.plans = Some(Box::new(Planning::new(parallel)));
        self
    }

    /// The planning state, if `request` is planned.
    #[inline]
    fn plans(&self, request: &Request) -> Option<&Planning> {
        let flags = &request.flags;
        let planned = |plans: &&Planning| flags.contains(Flags::GATHERED) || plans.always;
        self.plans.as_deref().filter(planned)
    }

    /// Plans `request` at `at` for a sled in `state`.
    fn plan(&self, plans: &Planning, at: Nanos, state: &SledState, request: &Request) {
        let reach = plans.parallel.micropositioning.at(at);
        let from = self.motion.geometry.nearest_cylinder(state.x_m);
        let mut planner = plans.planner.borrow_mut();
        planner.plan(&plans.parallel, &request.extents, reach, from);
    }

    /// Serves a request that is planned, or whose passes are swept run by run.
    #[inline(never)] // keeps the common case apart
    fn access_apart<'a>(
        &mut self,
        at: Nanos,
        request: &Request,
        wait_s: f64,
        mut totals: Totals<'a>,
    ) -> Totals<'a> {
        let (mut state, rule) = (self.state, self.behaviour.direction);
        if let Some(plans) = self.plans(request) {
            self.plan(plans, at, &state, request);
            let plans = self.plans.as_deref_mut().expect("the request is planned");
            self.ahead.skip();
            let (lbns, of_pass) = (&mut plans.lbns, &mut plans.of_pass);
            lbns.clear();
            of_pass.clear();
            let plan = &*plans.planner.get_mut();
            access_planned(&self.motion, rule, &mut state, plan, wait_s, |step, pass| {
                let from = lbns.len();
                lbns.extend_from_slice(plan.lbns(&plan.passes()[pass]));
                of_pass.push(from..lbns.len());
                totals.add(step);
            });
        } else {
            self.forget_plan();
            let add = &mut |step| totals.add(step);
            access_runs(&self.motion, &mut state, &request.extents, wait_s, add);
        }
        self.state = state;
        totals
    }

    /// Moves past the cylinders of [`Mechanism::pass_by`], with Y as it is; returns the time.
    #[cold]
    fn pass_cylinders(&mut self, totals: &mut Totals<'_>) -> f64 {
        let mut all_s = 0.0;
        for cylinder in std::mem::take(&mut self.passing) {
            let x_m = self.motion.geometry.x_m(cylinder);
            let took_s = self.motion.x_seek(self.state.x_m, x_m).total_s;
            totals.pass_by(took_s, cylinder);
            self.state.x_m = x_m;
            all_s += took_s;
        }
        all_s
    }

    /// The state at `at`, and the time to wake up or to become ready first.
    fn state_at(&self, at: Nanos) -> (SledState, f64) {
        let idle = at.since(self.free);
        if self.watch.is_inactive(idle) {
            return (self.parked, self.behaviour.startup_s);
        }
        if at < self.free {
            return (self.parked, self.free.since(at).s());
        }
        match self.behaviour.idle {
            Idle::Hold => (self.state, 0.0),
            Idle::Coast => (coast(&self.motion, self.state, idle.s()), 0.0),
        }
    }

    #[inline]
    fn estimates(&self) -> &Estimates {
        let new = || Estimates::new(&self.motion, self.behaviour.direction);
        self.estimates.get_or_init(new)
    }

    /// Begins a service at `at`: takes the state of that time, and counts the energy of
    /// the time without work.
    #[inline]
    fn begin(&mut self, at: Nanos) -> Startup {
        let idle = at.since(self.free);
        let waits = at < self.free || self.watch.is_inactive(idle);
        if !waits && self.behaviour.idle == Idle::Hold {
            let idle_mw = self.behaviour.power.idle_mw;
            self.energy.idle_j += 1e-3 * idle_mw * idle.s();
            self.watch.ended(idle);
            return Startup { wait_s: 0.0, woken_s: 0.0 };
        }
        let (idle_j, inactive_j) = self.idle_energy_j(idle);
        self.energy.idle_j += idle_j;
        self.energy.inactive_j += inactive_j;
        let (state, wait_s) = self.state_at(at);
        // The initial start-up is not charged to the request.
        let woken_s = match self.watch.is_inactive(idle) {
            true => wait_s,
            false => 0.0,
        };
        self.watch.ended(idle);
        (self.state, self.place) = (state, place_of(&self.motion, &state));
        Startup { wait_s, woken_s }
    }

    /// The blocks of passes are not known to differ from their extents.
    #[inline]
    fn forget_plan(&mut self) {
        if let Some(plans) = self.plans.as_deref_mut() {
            plans.of_pass.clear();
        }
    }

    /// The power of the tips that serve a request.
    #[inline]
    fn tip_power(&self, op: Op, extents: &[Extent]) -> TipPower {
        let Behaviour { power, savings, .. } = &self.behaviour;
        TipPower::of(power, savings, &self.motion.geometry, op, extents)
    }

    /// Counts the energy of a service that began at `at`, and sets in `row` what it took.
    #[inline(always)] // hot: once a request
    fn finish(&mut self, at: Nanos, startup: &Startup, totals: &Totals<'_>, row: &mut Row) {
        let energy = &totals.energy;
        let startup_j = 1e-3 * self.behaviour.power.startup_mw * startup.woken_s;
        let (seek_j, transfer_j) = (1e-3 * energy.seek_mj, 1e-3 * energy.transfer_mj);
        self.energy.startup_j += startup_j;
        self.energy.seek_j += seek_j;
        self.energy.transfer_j += transfer_j;
        self.free = at + totals.end;
        row.parts = totals.parts;
        (row.passes, row.retries, row.status) = (totals.count, 0, Status::Ok);
        let to = self.motion.place(&self.state, totals.cylinder);
        row.path = Some(Path { from: self.place, to, cylinders: totals.cylinders });
        self.place = to;
        row.energy_nj = ((startup_j + seek_j + transfer_j) * 1e9 + 0.5) as i64 as u64;
    }

    /// Energy of `idle` time without work, as (idle, inactive).
    fn idle_energy_j(&self, idle: Nanos) -> (f64, f64) {
        if idle == Nanos::ZERO {
            return (0.0, 0.0);
        }
        let (ready, inactive) = self.watch.split(idle);
        let power = &self.behaviour.power;
        (1e-3 * power.idle_mw * ready.s(), 1e-3 * power.inactive_mw * inactive.s())
    }
}

impl Positions for Sled {
    fn blocks(&self) -> u64 {
        self.motion.geometry.blocks()
    }

    fn estimate(&self, at: Nanos, request: &Request) -> Nanos {
        let (state, startup_s) = self.state_at(at);
        let rule = self.behaviour.direction;
        let seek = match self.plans(request) {
            Some(plans) => {
                self.plan(plans, at, &state, request);
                first_planned_seek(&self.motion, rule, &state, &plans.planner.borrow())
            }
            None => first_seek(&self.motion, rule, &state, &request.extents),
        };
        Nanos::from_s(startup_s + seek.map_or(0.0, |seek| seek.seek_s))
    }

    fn start_of(&self, request: &Request) -> Start {
        if self.plans(request).is_some() {
            return Start::at(self.target_cylinder(request));
        }
        self.estimates().start_of(&self.motion.geometry, request)
    }

    fn estimate_within(&self, at: Nanos, request: &Request, start: &Start, limit: Nanos) -> Nanos {
        let (state, startup_s) = self.state_at(at);
        let x_s = |cylinder| self.ahead.estimate(&self.motion, state.x_m, cylinder);
        self.estimates()
            .within(&self.motion, &state, startup_s, start, limit, x_s)
            .unwrap_or_else(|| self.estimate(at, request))
    }

    fn target_cylinder(&self, request: &Request) -> i64 {
        // Of a plan, the lowest cylinder: its first pass is within reach of it.
        let lbn = match self.plans(request) {
            Some(_) => request.extents.iter().map(|extent| extent.lbn).min(),
            None => None,
        };
        let lbn = lbn.unwrap_or_else(|| request.lbn());
        let place = self.motion.geometry.locate(lbn);
        i64::from(place.cylinder)
    }

    fn cylinder(&self, at: Nanos) -> i64 {
        let (state, _) = self.state_at(at);
        i64::from(self.motion.geometry.nearest_cylinder(state.x_m))
    }

    fn seek_lower_bound(&self, at: Nanos, cylinder: i64) -> Nanos {
        let (state, startup_s) = self.state_at(at);
        let geometry = &self.motion.geometry;
        let last = i64::from(geometry.cylinders) - 1;
        let mut to = cylinder.clamp(0, last) as u32;
        if let Some(plans) = (self.plans.as_deref()).filter(|plans| plans.most_reach > 0) {
            // Tips may cover that part of the distance.
            let here = geometry.nearest_cylinder(state.x_m);
            let reach = plans.most_reach;
            to = here.clamp(to.saturating_sub(reach), to.saturating_add(reach));
        }
        let least_s = self.motion.x_at_least_s(state.x_m, geometry.x_m(to));
        Nanos::from_s(startup_s + least_s)
    }

    fn bounds(&self, at: Nanos) -> Option<Bounds<'_>> {
        let plans = self.plans.as_deref();
        if plans.is_some_and(|plans| plans.most_reach > 0) {
            return None;
        }
        let (state, startup_s) = self.state_at(at);
        Some(Bounds {
            here: on_cylinder(&self.motion.geometry, state.x_m)?,
            base: Nanos::from_s(startup_s),
            by_distance: self.estimates().x_at_least_ns(),
            gain_ns: 0,
        })
    }
}

impl Mechanism for Sled {
    fn positions(&self) -> &dyn Positions {
        self
    }

    fn media(&self) -> &dyn Media {
        self
    }

    fn tips(&mut self) -> Option<&mut dyn Tips> {
        Some(self)
    }

    fn background(&self) -> Option<&dyn Background> {
        None
    }

    fn counts(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    fn pass_by(&mut self, lbn: u64) {
        let to = self.motion.geometry.locate(lbn).cylinder;
        self.passing.push(to);
    }

    fn access(&mut self, at: Nanos, request: &Request, passes: &mut Passes, row: &mut Row) {
        let startup = self.begin(at);
        let tips = self.tip_power(request.op, &request.extents);
        let mut totals = Totals::new(startup.wait_s, self.place.cylinder, tips, passes);
        let mut wait_s = startup.wait_s;
        if !self.passing.is_empty() {
            wait_s += self.pass_cylinders(&mut totals);
        }
        let rule = self.behaviour.direction;
        if rule == DirectionRule::BestRun || self.plans(request).is_some() {
            let totals = self.access_apart(at, request, wait_s, totals);
            return self.finish(at, &startup, &totals, row);
        }
        self.forget_plan();
        let (state, ahead) = (&mut self.state, &mut self.ahead);
        let add = &mut |step| totals.add(step);
        access_rows(&self.motion, rule, state, &request.extents, ahead, wait_s, add);
        self.finish(at, &startup, &totals, row);
    }

    fn foresee(&mut self, upcoming: &[Extent]) {
        let always = self.plans.as_deref().is_some_and(|plans| plans.always);
        if !always && self.behaviour.direction != DirectionRule::BestRun {
            self.ahead.extend(&self.motion, self.state.x_m, upcoming);
        }
    }

    fn batches(&self) -> Option<&dyn BatchPlanner> {
        self.plans.as_deref().map(|plans| plans as &dyn BatchPlanner)
    }

    fn rest(&mut self, at: Nanos) -> bool {
        self.watch.rest(at.since(self.free));
        true
    }

    fn energy(&self, until: Nanos) -> Option<Energy> {
        let (idle_j, inactive_j) = self.idle_energy_j(until.since(self.free));
        let start_s = self.behaviour.start.starting(until).s();
        Some(Energy {
            idle_j: self.energy.idle_j + idle_j,
            inactive_j: self.energy.inactive_j + inactive_j,
            startup_j: self.energy.startup_j + 1e-3 * self.behaviour.power.startup_mw * start_s,
            ..self.energy
        })
    }
}

impl Media for Sled {
    fn end_of(&self, lbn: u64, span: Span) -> u64 {
        let geometry = &self.motion.geometry;
        let blocks = match span {
            Span::Row => {
                // The part of the row that one pass may access.
                let row = u64::from(geometry.blocks_per_row);
                let pass = u64::from(geometry.blocks_per_pass);
                let into = (lbn % row / pass + 1) * pass;
                return lbn - lbn % row + into.min(row);
            }
            Span::Track => geometry.blocks_per_track(),
            Span::Cylinder => geometry.blocks_per_cylinder(),
        };
        (lbn / blocks + 1) * blocks
    }

    fn blocks_of(&self, pass: usize) -> &[u64] {
        let Some(plans) = self.plans.as_deref() else {
            return &[];
        };
        match plans.of_pass.get(pass) {
            Some(blocks) => &plans.lbns[blocks.clone()],
            None => &[],
        }
    }

    fn block_order(&self) -> BlockOrder {
        BlockOrder::Together
    }
}

impl Tips for Sled {
    fn mend(&mut self, _lbns: &[u64]) {}

    fn struck(&mut self) -> Vec<u32> {
        Vec::new()
    }

    /// Re-seeks after settling one cylinder off: the sled has passed the servo field at
    /// the start of the pass and returns to that start (CMU-CS-00-136, section 6.1.3).
    /// Returns the extra time and energy.
    fn reseek(&mut self, step: &Step) -> (Nanos, f64) {
        let (motion, row) = (&self.motion, self.motion.geometry.locate(step.lbn).row);
        let x_m = motion.geometry.x_m(step.cylinder);
        let start = match step.direction {
            1 => motion.edge(Direction::Up, row),
            _ => motion.edge(Direction::Down, row + 1),
        };
        let servo_m = f64::from(motion.geometry.servo_bits) * motion.geometry.bit_m;
        let off = match (step.cylinder, motion.geometry.cylinders) {
            (_, 1) => 0.0,
            (0, _) => 1.0,
            _ => -1.0,
        };
        let state = SledState {
            x_m: x_m + off * motion.geometry.bit_m,
            y: motion.point(start.y_m + f64::from(step.direction) * servo_m, start.direction),
            turning_s: 0.0,
        };
        let servo_s = servo_m / motion.drive.access_m_s;
        let time = Nanos::from_s(servo_s + motion.seek(&state, x_m, &start).seek_s);
        let joules = 1e-3 * self.behaviour.power.active_mw * time.s();
        self.free += time;
        self.energy.seek_j += joules;
        (time, joules)
    }
}
