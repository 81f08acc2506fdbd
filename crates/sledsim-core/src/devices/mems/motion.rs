//! Motion: seeks of the sled over a given geometry.
//!
//! X and Y move in parallel; a seek takes the longer of the two. X starts and ends at
//! rest and then settles; Y starts and ends at access velocity, and turns around before
//! or after the move where its direction requires it (SIGMETRICS 2000 section 3.1).

use super::geometry::Geometry;
use super::kinematics::{self, Axis, Kinematics, Moment, MotionState};
use sledsim_base::row::Place;
use std::sync::Arc;

/// Direction of Y motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)] // a point has no padding: its bytes would be copied one by one
pub enum Direction {
    /// Towards higher Y.
    Up,
    /// Towards lower Y.
    Down,
}

impl Direction {
    /// +1 up, -1 down.
    pub fn sign(self) -> i8 {
        match self {
            Self::Up => 1,
            Self::Down => -1,
        }
    }
}

/// The cost of a move to a neighbouring cylinder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CylinderSwitch {
    /// A seek like any other.
    Seek,
    /// The tips deflect: takes the shortest turnaround, without settling.
    Tip,
}

/// A point in Y with the direction of motion there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct YPoint {
    /// Metres from the centre.
    pub y_m: f64,
    /// Direction of motion.
    pub direction: Direction,
    /// Index among the row edges, whose seeks are tabulated; else [`NO_EDGE`].
    edge: u32,
}

/// The index of a point that is no tabulated row edge.
const NO_EDGE: u32 = u32::MAX;

impl YPoint {
    /// Its index among the row edges, if they are tabulated and it is one.
    #[inline]
    pub(super) fn edge(&self) -> Option<u32> {
        (self.edge != NO_EDGE).then_some(self.edge)
    }
}

/// Position and direction of the sled, at rest in X.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SledState {
    /// Metres from the centre in X.
    pub x_m: f64,
    /// Y and its direction.
    pub y: YPoint,
    /// Time left of a turnaround in progress (coasting sleds).
    pub turning_s: f64,
}

/// The times of a seek, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Seek {
    /// The larger of X and Y.
    pub seek_s: f64,
    /// X move with settle.
    pub x_seek_s: f64,
    /// Y move with turnarounds.
    pub y_seek_s: f64,
    /// Settling after the X move.
    pub settle_s: f64,
    /// Reversals of the Y velocity.
    pub turnaround_s: f64,
    /// Number of reversals.
    pub turns: u32,
}

/// The X part of a seek.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct XSeek {
    pub total_s: f64,
    settle_s: f64,
}

/// The Y part of a seek.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct YSeek {
    total_s: f64,
    turnaround_s: f64,
    turns: u32,
}

impl XSeek {
    /// The longer of the X part and a Y part.
    #[inline]
    fn or_longer(&self, y_s: f64) -> f64 {
        if self.total_s > y_s { self.total_s } else { y_s }
    }
}

impl Seek {
    /// With these parts, after what is left of a turnaround.
    #[inline]
    fn of(x: &XSeek, y: &YSeek, turning_s: f64) -> Self {
        let y_seek_s = y.total_s + turning_s;
        Self {
            seek_s: x.or_longer(y_seek_s),
            x_seek_s: x.total_s,
            y_seek_s,
            settle_s: x.settle_s,
            turnaround_s: y.turnaround_s + turning_s,
            turns: y.turns,
        }
    }
}

/// Actuators, springs and speeds, without the kinematics.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drive {
    /// X actuator and springs.
    pub x_axis: Axis,
    /// Y actuator and springs.
    pub y_axis: Axis,
    /// Y velocity under active tips, in m/s.
    pub access_m_s: f64,
    /// Settling time after every X move, in s.
    pub settle_s: f64,
    /// Half the travel in Y, in m.
    pub reach_y_m: f64,
    /// Cost of a move to a neighbouring cylinder.
    pub cylinder_switch: CylinderSwitch,
    /// Whether a sled that is already at the right Y with the right direction can wait
    /// there while X moves, as an idle one can. DiskSim's cannot: it makes the
    /// turnarounds of a downward move of length zero.
    pub y_waits: bool,
}

/// Seek times of one device.
#[derive(Clone, Debug)]
pub struct Motion {
    /// The shape of the media.
    pub geometry: Geometry,
    /// Actuators, springs and speed.
    pub drive: Drive,
    kinematics: Arc<dyn Kinematics>,
    /// The shortest turnaround: at the edge, where the springs help most.
    least_turnaround_s: f64,
    /// All row edges, upward ones first; empty if there are too many.
    edges: Vec<YPoint>,
    /// Y seeks between them.
    table: Vec<YSeek>,
    row_s: f64,
}

/// Chunks per push of a trajectory, unless the kinematics have their own.
const TRAJECTORY_CHUNKS: u32 = 100;

/// Devices with more rows have no tables of Y seeks (40 MB).
const MAX_TABLED_ROWS: u32 = 500;

impl Motion {
    /// Tabulates the Y seeks of `geometry` under `drive`.
    pub fn new(geometry: Geometry, drive: Drive, kinematics: Arc<dyn Kinematics>) -> Self {
        let outward = drive.access_m_s;
        let least_turnaround_s =
            kinematics.turnaround_s(&drive.y_axis, drive.reach_y_m, outward, Moment::Start);
        let mut motion = Self {
            geometry,
            drive,
            kinematics,
            least_turnaround_s,
            edges: Vec::new(),
            table: Vec::new(),
            row_s: f64::from(geometry.row_bits) * geometry.bit_m / drive.access_m_s,
        };
        if geometry.rows > MAX_TABLED_ROWS {
            return motion;
        }
        let edges = [Direction::Up, Direction::Down]
            .into_iter()
            .flat_map(|direction| (0..=geometry.rows).map(move |edge| (direction, edge)))
            .zip(0..)
            .map(|((direction, edge), index)| YPoint {
                edge: index,
                ..motion.untabled_edge(direction, edge)
            });
        motion.edges = edges.collect();
        let edges = &motion.edges;
        motion.table = (edges.iter())
            .flat_map(|from| edges.iter().map(|to| motion.compute_y_seek(from, to)))
            .collect();
        motion
    }

    /// The row boundary `edge` (0 below row 0, `rows` above the last) for a pass in
    /// `direction`.
    #[inline]
    pub fn edge(&self, direction: Direction, edge: u32) -> YPoint {
        let first = match direction {
            Direction::Up => 0,
            Direction::Down => self.geometry.rows + 1,
        };
        match self.edges.get((first + edge) as usize) {
            Some(point) => *point,
            None => self.untabled_edge(direction, edge),
        }
    }

    /// Where a pass over `row` ends, upward or not. Without a branch on that: it cannot be
    /// foreseen.
    #[inline(always)] // hot: once a pass
    pub(super) fn end_of_pass(&self, is_up: bool, row: u32) -> YPoint {
        let edge = row + u32::from(is_up);
        let index = edge + (self.geometry.rows + 1) * u32::from(!is_up);
        match self.edges.get(index as usize) {
            Some(point) => *point,
            None => self.edge(if is_up { Direction::Up } else { Direction::Down }, edge),
        }
    }

    /// As rows have it.
    #[inline]
    pub(super) fn place(&self, state: &SledState, cylinder: u32) -> Place {
        let SledState { y, .. } = state;
        let (up, direction) = (y.direction == Direction::Up, y.direction.sign());
        let head_or_edge = match y.edge() {
            Some(edge) if up => edge,
            Some(edge) => edge - (self.geometry.rows + 1),
            None => self.geometry.nearest_edge(up, y.y_m),
        };
        Place { cylinder, head_or_edge, direction }
    }

    /// The times of travels in X.
    pub(super) fn x_travels_s(&self, from_m: &[f64], to_m: &[f64], times_s: &mut [f64]) {
        (self.kinematics).travels_s(&self.drive.x_axis, from_m, to_m, times_s);
    }

    #[inline]
    fn x_travel_s(&self, from_m: f64, to_m: f64) -> f64 {
        (self.kinematics).travel_s(&self.drive.x_axis, from_m, to_m, 0.0)
    }

    fn untabled_edge(&self, direction: Direction, edge: u32) -> YPoint {
        let up = direction == Direction::Up;
        self.point(self.geometry.edge_y_m(up, edge), direction)
    }

    /// Any other point in Y.
    pub fn point(&self, y_m: f64, direction: Direction) -> YPoint {
        YPoint { y_m, direction, edge: NO_EDGE }
    }

    /// Time of one row under the tips, servo included.
    pub fn row_s(&self) -> f64 {
        self.row_s
    }

    /// The seek from `from` to `x_m` and `to`.
    pub fn seek(&self, from: &SledState, x_m: f64, to: &YPoint) -> Seek {
        let x = self.x_seek(from.x_m, x_m);
        Seek::of(&x, &self.y_seek(&from.y, to, x.total_s > 0.0), from.turning_s)
    }

    /// The faster of the seeks to `up` and to `down`, and whether it is the one to
    /// `up`. Down wins ties.
    #[inline]
    pub fn faster_seek(
        &self,
        from: &SledState,
        x_m: f64,
        up: &YPoint,
        down: &YPoint,
    ) -> (Seek, bool) {
        self.seek_to_either(from, &self.x_seek(from.x_m, x_m), [up, down], None)
    }

    /// The seek to a pass over `row` in the direction `forced`, or else in the faster one,
    /// and whether that is up; down wins ties. `x` is its X part.
    #[inline(always)] // hot: once a pass
    pub(super) fn seek_to_row(
        &self,
        from: &SledState,
        x: &XSeek,
        row: u32,
        forced: Option<Direction>,
    ) -> (Seek, bool) {
        match from.y.edge() {
            Some(edge) if from.turning_s == 0.0 => self.tabled_seek(edge, x, row, forced),
            _ => {
                let ends = [self.edge(Direction::Up, row), self.edge(Direction::Down, row + 1)];
                self.seek_to_either(from, x, ends.each_ref(), forced)
            }
        }
    }

    /// The seek to the point up or down: in the direction `forced`, or else the faster one.
    fn seek_to_either(
        &self,
        from: &SledState,
        x: &XSeek,
        ends: [&YPoint; 2],
        forced: Option<Direction>,
    ) -> (Seek, bool) {
        let [up, down] = ends.map(|to| self.y_seek(&from.y, to, x.total_s > 0.0));
        let [up_s, down_s] = [&up, &down].map(|y| x.or_longer(y.total_s + from.turning_s));
        let is_up = forced.map_or(up_s < down_s, |direction| direction == Direction::Up);
        (Seek::of(x, if is_up { &up } else { &down }, from.turning_s), is_up)
    }

    /// As [`Motion::seek_to_row`] from a row edge, with less work.
    #[inline(always)]
    fn tabled_seek(
        &self,
        from: u32,
        x: &XSeek,
        row: u32,
        forced: Option<Direction>,
    ) -> (Seek, bool) {
        let edges = self.edges.len();
        let from_here = &self.table[from as usize * edges..][..edges];
        // A sled that is there with the right direction stays, unless X moves.
        let here = if x.total_s == 0.0 { from } else { NO_EDGE };
        let total_s = |to: u32| if to == here { 0.0 } else { from_here[to as usize].total_s };
        let (up, down) = (row, self.geometry.rows + 1 + row + 1);
        let (up_y_s, down_y_s) = (total_s(up), total_s(down));
        let (up_s, down_s) = (x.or_longer(up_y_s), x.or_longer(down_y_s));
        let is_up = match forced {
            None => up_s < down_s,
            Some(direction) => direction == Direction::Up,
        };
        let to = down ^ ((up ^ down) & u32::from(is_up).wrapping_neg());
        let y = if to == here { YSeek::default() } else { from_here[to as usize] };
        let seek = Seek {
            seek_s: pick(is_up, up_s, down_s),
            x_seek_s: x.total_s,
            y_seek_s: pick(is_up, up_y_s, down_y_s),
            settle_s: x.settle_s,
            turnaround_s: y.turnaround_s,
            turns: y.turns,
        };
        (seek, is_up)
    }

    /// The Y part of a seek from `from` to `to` while X moves.
    pub fn y_seek_s(&self, from: &YPoint, to: &YPoint) -> f64 {
        self.y_seek(from, to, true).total_s
    }

    /// Number of row edges, both directions together, whose seeks are tabulated.
    pub fn edges(&self) -> u32 {
        self.edges.len() as u32
    }

    /// Lower bound of the X part of every seek from `from_m` to `to_m`, non-decreasing
    /// in the distance.
    pub fn x_at_least_s(&self, from_m: f64, to_m: f64) -> f64 {
        if from_m == to_m {
            return 0.0;
        }
        let drive = &self.drive;
        let travel_s = self.kinematics.travel_at_least_s(&drive.x_axis, from_m, to_m);
        let full_s = travel_s + drive.settle_s;
        if self.within_tip_reach(from_m, to_m) {
            full_s.min(self.least_turnaround_s)
        } else {
            full_s
        }
    }

    /// States of the sled during a move in X, which begins and ends at rest, or in Y,
    /// at access velocity, without settling and turnarounds. `None` if the kinematics
    /// have no trajectories.
    pub fn trajectory(&self, in_x: bool, from_to_m: (f64, f64)) -> Option<Vec<MotionState>> {
        let drive = &self.drive;
        let (axis, speed_m_s) =
            if in_x { (&drive.x_axis, 0.0) } else { (&drive.y_axis, drive.access_m_s) };
        (self.kinematics).trajectory(axis, from_to_m, speed_m_s, TRAJECTORY_CHUNKS)
    }

    /// Time to reverse at `y_m` when moving in `direction`.
    pub fn turnaround_s(&self, y_m: f64, direction: Direction) -> f64 {
        let velocity_m_s = self.drive.access_m_s * f64::from(direction.sign());
        self.kinematics.turnaround_s(&self.drive.y_axis, y_m, velocity_m_s, Moment::Start)
    }

    fn within_tip_reach(&self, from_m: f64, to_m: f64) -> bool {
        self.drive.cylinder_switch == CylinderSwitch::Tip
            && (to_m - from_m).abs() < 1.5 * self.geometry.bit_m
    }

    /// The X part of a seek.
    #[inline]
    pub(super) fn x_seek(&self, from_m: f64, to_m: f64) -> XSeek {
        self.x_seek_with(from_m, to_m, || self.x_travel_s(from_m, to_m))
    }

    /// As [`Motion::x_seek`]; `travel_s` is the time of the travel alone.
    #[inline(always)]
    pub(super) fn x_seek_with(
        &self,
        from_m: f64,
        to_m: f64,
        travel_s: impl FnOnce() -> f64,
    ) -> XSeek {
        if from_m == to_m {
            return XSeek::default();
        }
        if self.within_tip_reach(from_m, to_m) {
            return XSeek { total_s: self.least_turnaround_s, settle_s: 0.0 };
        }
        let settle_s = self.drive.settle_s;
        XSeek { total_s: travel_s() + settle_s, settle_s }
    }

    #[inline]
    fn y_seek(&self, from: &YPoint, to: &YPoint, x_moves: bool) -> YSeek {
        if !x_moves && from.y_m == to.y_m && from.direction == to.direction {
            return YSeek::default();
        }
        match (from.edge(), to.edge()) {
            (Some(from), Some(to)) => self.table[from as usize * self.edges.len() + to as usize],
            _ => self.compute_y_seek(from, to),
        }
    }

    /// The turnarounds of a Y seek, before and after the move: place, velocity before the
    /// turn, moment.
    fn turns(&self, from: &YPoint, to: &YPoint) -> [Option<(f64, f64, Moment)>; 2] {
        let heading = if from.y_m < to.y_m { Direction::Up } else { Direction::Down };
        let velocity_m_s =
            |direction: Direction| self.drive.access_m_s * f64::from(direction.sign());
        let first = (from.y_m, velocity_m_s(from.direction), Moment::Start);
        let last = (to.y_m, velocity_m_s(heading), Moment::End);
        [(from.direction != heading).then_some(first), (to.direction != heading).then_some(last)]
    }

    /// The X part of a seek in arcs, without settling: empty if the sled stays. `None` if
    /// the kinematics have no trajectories.
    pub fn x_arcs(&self, from_m: f64, to_m: f64) -> Option<Vec<kinematics::Arc>> {
        if from_m == to_m || self.within_tip_reach(from_m, to_m) {
            return Some(Vec::new());
        }
        self.kinematics.arcs(&self.drive.x_axis, from_m, to_m, 0.0)
    }

    /// The Y part of a seek in arcs, each with whether it is a turnaround, from a sled that
    /// is not turning around; empty if the sled stays. `None` if the kinematics have no
    /// trajectories.
    pub fn y_arcs(
        &self,
        from: &YPoint,
        to: &YPoint,
        x_moves: bool,
    ) -> Option<Vec<(kinematics::Arc, bool)>> {
        if self.y_seek(from, to, x_moves).total_s == 0.0 {
            return Some(Vec::new());
        }
        let (axis, speed_m_s) = (&self.drive.y_axis, self.drive.access_m_s);
        let [first, last] = self.turns(from, to).map(|turn| {
            turn.map(|(y_m, v, moment)| (self.kinematics.turn_arc(axis, y_m, v, moment), true))
        });
        let moves = self.kinematics.arcs(axis, from.y_m, to.y_m, speed_m_s)?;
        let moves = moves.into_iter().map(|arc| (arc, false));
        Some(first.into_iter().chain(moves).chain(last).collect())
    }

    /// w of moves in X and Y, in 1/s: see [`kinematics::Arc`].
    pub fn angular_1_s(&self) -> [f64; 2] {
        [&self.drive.x_axis, &self.drive.y_axis].map(|axis| self.kinematics.angular_1_s(axis))
    }

    /// The turnaround that ends at `to` with its direction.
    pub(super) fn turn_back(&self, to: &YPoint) -> kinematics::Arc {
        let velocity_m_s = -self.drive.access_m_s * f64::from(to.direction.sign());
        self.kinematics.turn_arc(&self.drive.y_axis, to.y_m, velocity_m_s, Moment::Start)
    }

    /// Computes a Y seek. A turnaround precedes the move if the sled moves away from
    /// the target, and follows it if it arrives in the wrong direction. A move of
    /// length zero counts as downward.
    fn compute_y_seek(&self, from: &YPoint, to: &YPoint) -> YSeek {
        if self.drive.y_waits && from.y_m == to.y_m && from.direction == to.direction {
            return YSeek::default();
        }
        let (axis, speed_m_s) = (&self.drive.y_axis, self.drive.access_m_s);
        let (mut turnaround_s, mut turns) = (0.0, 0);
        for (y_m, velocity_m_s, moment) in self.turns(from, to).into_iter().flatten() {
            turnaround_s += self.kinematics.turnaround_s(axis, y_m, velocity_m_s, moment);
            turns += 1;
        }
        let travel_s = self.kinematics.travel_s(axis, from.y_m, to.y_m, speed_m_s);
        YSeek { total_s: travel_s + turnaround_s, turnaround_s, turns }
    }
}

/// `yes` or `no`, without a branch: which is chosen at random costs a branch more than the
/// rest of a pass, as it is known only at the end of a long chain of arithmetic.
#[inline(always)]
fn pick(choice: bool, yes: f64, no: f64) -> f64 {
    let mask = u64::from(choice).wrapping_neg();
    f64::from_bits(no.to_bits() ^ ((yes.to_bits() ^ no.to_bits()) & mask))
}
