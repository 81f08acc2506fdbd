//! The way of a sled.

use super::Follower;
use super::columns::{Columns, count};
use super::rows::Served;
use sledsim_base::units::Nanos;
use sledsim_core::devices::mems::calculator::Calculator;
use sledsim_core::devices::mems::kinematics::Arc;
use sledsim_core::devices::mems::motion::SledState;
use sledsim_core::devices::mems::path::{PassPath, Phase, Segment};
use sledsim_core::devices::mems::spec::Mems;

/// The segments of one axis.
#[derive(Default)]
struct Axis {
    counts: Vec<u16>,
    segments: Vec<Segment>,
}

/// Follows a sled.
pub(super) struct SledPath {
    spec: Mems,
    calculator: Calculator,
    /// The state from which the access added last began.
    from: Option<SledState>,
    /// The state after it, and when.
    last: Option<(SledState, Nanos)>,
    row: Vec<u32>,
    exact: Vec<u8>,
    axes: [Axis; 2],
    pass_counts: Vec<u16>,
    passes: Vec<PassPath>,
}

impl SledPath {
    pub fn new(spec: &Mems) -> Self {
        Self {
            spec: spec.clone(),
            calculator: Calculator::new(spec),
            from: None,
            last: None,
            row: Vec::new(),
            exact: Vec::new(),
            axes: Default::default(),
            pass_counts: Vec::new(),
            passes: Vec::new(),
        }
    }

    /// The paths of an access whose times are those of its row, from the state that gives
    /// them, and the state after it.
    fn exact(&self, served: &Served, states: &[SledState]) -> Option<(usize, Vec<PassPath>)> {
        let started = served.row.parts.other;
        let busy = served.busy();
        if !served.is_whole || served.row.parts.retry > Nanos::ZERO {
            return None;
        }
        states.iter().enumerate().find_map(|(index, state)| {
            let paths = self.calculator.paths(served.extent(), state, started.s());
            let (passes, _) = paths.ok()?;
            let end = passes.last().map_or(started, |pass| pass.step.end);
            (end.0.abs_diff(busy.0) <= 1).then_some((index, passes))
        })
    }

    /// Straight lines between the ends of the access.
    fn straight(served: &Served, from: &SledState, to: &SledState) -> [Vec<Segment>; 2] {
        let parts = served.row.parts;
        let seek_s = parts.seek.s();
        let rest_s = (served.busy() - parts.other - parts.seek).s();
        [(from.x_m, to.x_m), (from.y.y_m, to.y.y_m)].map(|(from_m, to_m)| {
            let velocity_m_s = if seek_s > 0.0 { (to_m - from_m) / seek_s } else { 0.0 };
            let arc = Arc { duration_s: seek_s, place_m: from_m, velocity_m_s, ..Arc::default() };
            let moves = Segment { arc, phase: Phase::Moves };
            vec![moves, Segment { arc: Arc::rest(rest_s, to_m), phase: Phase::Waits }]
        })
    }
}

impl Follower for SledPath {
    fn add(&mut self, row: usize, served: &Served) {
        let Some(path) = served.row.path else { return };
        let idle = self.last.map(|(state, end)| (state, served.row.start.since(end).s()));
        let states = self.calculator.states(path.from, idle);
        let found = self.exact(served, &states);
        let from = states[found.as_ref().map_or(0, |(index, _)| *index)];
        let to = self.calculator.states(path.to, None)[0];
        let exact = found.as_ref().is_some_and(|(_, passes)| passes.iter().all(|one| one.is_exact));
        let passes = found.map(|(_, passes)| passes).unwrap_or_default();
        let ways = match passes.is_empty() {
            true => Self::straight(served, &from, &to),
            false => {
                let x = passes.iter().flat_map(|pass| pass.x.iter().copied()).collect();
                [x, passes.iter().flat_map(|pass| pass.y.iter().copied()).collect()]
            }
        };
        let started_s = served.row.parts.other.s();
        for ((axis, way), place_m) in self.axes.iter_mut().zip(ways).zip([from.x_m, from.y.y_m]) {
            let arc = Arc::rest(started_s, place_m);
            let starts = (started_s > 0.0).then_some(Segment { arc, phase: Phase::Starts });
            axis.counts.push(count(way.len() + starts.iter().len()));
            axis.segments.extend(starts.into_iter().chain(way));
        }
        self.row.push(row as u32);
        self.exact.push(u8::from(exact));
        self.pass_counts.push(count(passes.len()));
        self.passes.extend(passes);
        self.from = Some(from);
        self.last = Some((to, served.row.start + served.busy()));
    }

    fn ready(&self, arrival: Nanos) -> Nanos {
        arrival + self.spec.interface.overhead
    }

    fn estimate(&self, served: &Served) -> Option<Nanos> {
        let last = served.row.lbn + u64::from(served.row.blocks);
        let (from, blocks) = (self.from?, self.calculator.motion().geometry.blocks());
        (last <= blocks).then(|| Nanos::from_s(self.calculator.estimate_s(served.extent(), &from)))
    }

    fn finish(self: Box<Self>) -> (Vec<(&'static str, Vec<f64>)>, Columns) {
        let mut columns = Columns::default();
        columns.add("row", self.row);
        columns.add("exact", self.exact);
        let motion = self.calculator.motion();
        let axes = [motion.drive.x_axis, motion.drive.y_axis];
        for ((name, axis), of) in ["x", "y"].into_iter().zip(self.axes).zip(axes) {
            let a_m_s2 = of.acceleration_m_s2;
            let segments = || axis.segments.iter();
            columns.add(&format!("{name}_count"), axis.counts);
            columns.add(&format!("{name}_s"), segments().map(|one| one.arc.duration_s));
            columns.add(&format!("{name}_m"), segments().map(|one| one.arc.place_m));
            columns.add(&format!("{name}_m_s"), segments().map(|one| one.arc.velocity_m_s));
            columns.add(&format!("{name}_push_m_s2"), segments().map(|one| push(one, a_m_s2)));
            columns.add(&format!("{name}_how"), segments().map(how));
        }
        columns.add("pass_count", self.pass_counts);
        let passes = || self.passes.iter();
        columns.add("pass_track", passes().map(|pass| count(pass.first.track as usize)));
        columns.add("pass_row", passes().map(|pass| count(pass.first.row as usize)));
        columns.add("pass_cylinder", passes().map(|pass| pass.step.cylinder));
        columns.add("pass_cell", passes().map(|pass| count(pass.first.cell as usize)));
        columns.add("pass_blocks", passes().map(|pass| count(pass.step.blocks as usize)));
        let geometry = &motion.geometry;
        let (reach_x_m, reach_y_m) = self.spec.reach_m();
        let [w_x, w_y] = motion.angular_1_s();
        let one = |value: f64| vec![value];
        let whole = |value: u32| vec![f64::from(value)];
        let edges = (0..=geometry.rows).map(|edge| geometry.edge_y_m(true, edge)).collect();
        let active = geometry.blocks_per_row * geometry.tips_per_lbn;
        let facts = vec![
            ("reach_x_m", one(reach_x_m)),
            ("reach_y_m", one(reach_y_m)),
            ("w_x", one(w_x)),
            ("w_y", one(w_y)),
            ("cylinders", whole(geometry.cylinders)),
            ("rows", whole(geometry.rows)),
            ("tips", whole(geometry.tracks * active)),
            ("tips_per_block", whole(geometry.tips_per_lbn)),
            ("blocks_per_row", whole(geometry.blocks_per_row)),
            ("bit_m", one(geometry.bit_m)),
            ("edge_m", edges),
        ];
        (facts, columns)
    }
}

/// The form of a segment, and four times its phase.
fn how(segment: &Segment) -> u8 {
    let Arc { velocity_m_s, acceleration_m_s2, angular_1_s, .. } = segment.arc;
    let form = match angular_1_s > 0.0 {
        true => 1,
        false if velocity_m_s == 0.0 && acceleration_m_s2 == 0.0 => 0,
        false => 2,
    };
    form + 4 * segment.phase as u8
}

/// The constant part of the acceleration: of the actuator, against springs in the form 1.
fn push(segment: &Segment, actuator_m_s2: f64) -> f64 {
    let Arc { place_m, acceleration_m_s2, angular_1_s: w, .. } = segment.arc;
    match w > 0.0 {
        true => actuator_m_s2.copysign(acceleration_m_s2 + w * w * place_m),
        false => acceleration_m_s2,
    }
}
