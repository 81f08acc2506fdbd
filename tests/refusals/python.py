"""Refusals of the Python interface in general."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import sledsim as ss
from sledsim.cli.parser import split_names
from sledsim.studies.settings import axis

SMALL = {"device": "g2", "workload": "random", "requests": 200, "rate": 500}
BEGUN = b'{"format": 1, "experiment": "simulate", '
OPEN, PAIR = ss.workload("random", rate=50, requests=100), ["g1", "g2"]

RING: list[object] = []
RING.append(RING)


def of(text: str | bytes, do: Any = ss.device, name: str = "own.toml") -> object:
    """Do something with a file of this content; the file goes."""
    Path(name).write_bytes(text if isinstance(text, bytes) else text.encode())
    try:
        return do(name)
    finally:
        Path(name).unlink()


def own(*lines: str) -> object:
    """Make a device of a file whose first line names g2 as its base."""
    return of("\n".join(["base = 'g2'", *lines, ""]))


def scenario(*lines: str) -> object:
    """Read a scenario whose first two lines are its device."""
    return of("\n".join(["[device]", "base = 'g2'", *lines, ""]), ss.scenario)


def study(content: bytes) -> object:
    """Go on with a study whose file about itself has this content."""
    return of(content, lambda _: ss.sweep(SMALL, output="."), "study.json")


def sweep(**given: Any) -> object:
    """Sweep; no run may have been made when it is refused."""

    def told(done: int, _of: int | None) -> None:
        assert not done

    return ss.sweep(SMALL, progress=told, **given)


CODE: dict[str, Any] = {
    "axis": axis,
    "BEGUN": BEGUN,
    "BUFFER": {"size_kib": 64, "segments": 0},
    "DISK": ss.device("atlas10k"),
    "G2": ss.device("g2"),
    "LAID": ss.device("g2").to_toml() + "layout.name = 5",
    "LOAD": ss.workload("random", requests=10),
    "HUGE": b'{\n"format": ' + b"9" * 5000 + b"}",
    "math": math,
    "NO_BASE": BEGUN + b'"parameters": {}, "fixed": []}',
    "np": np,
    "of": of,
    "OPEN": OPEN,
    "own": own,
    "PAIR": PAIR,
    "paired": cache(lambda: ss.compare(OPEN, PAIR, paired=True)),
    "PARTS": {"a": {"rate": 50}, "b": {"queue_depth": 2}},
    "RING": RING,
    "run": cache(lambda: ss.simulate("random", "g2")),
    "SAMPLE": "kind = 'trace'\nfile = 'sample:none'",
    "scenario": scenario,
    "SMALL": SMALL,
    "SQLITE": {"device": "g2", "trace": "sample:sqlite"},
    "split_names": split_names,
    "ss": ss,
    "unpaired": cache(lambda: ss.compare(OPEN, PAIR)),
    "swept": cache(lambda: ss.sweep(SMALL, grid={"rate": [1, 2]})),
    "study": study,
    "sweep": sweep,
}
LINES: list[tuple[str, ...]] = []
CALLS: list[tuple[Any, ...]] = [
    # Devices and their files.
    ("ss.device('value.toml')", ss.SpecError, "value.toml:3 spring_factor", "below 1"),
    ("ss.device('unknown.toml')", ss.SpecError, "unknown.toml:2 spring_facter", "spring_factor"),
    ("ss.device('table.toml')", ss.SpecError, "table.toml:2 bufer"),
    ("ss.device('syntax.toml')", ss.SpecError, "syntax.toml:2"),
    ("ss.device('missing.toml')", ss.SpecError, "missing.toml bit_cell_nm"),
    ("ss.device('none.toml')", ss.SpecError, "none.toml"),
    ("of('base = g2\\n')", ss.SpecError, "own.toml:1", "g2"),
    ("of('base = \"g2')", ss.SpecError, "own.toml:1"),
    ("of('')", ss.SpecError, "own.toml kind", "kind"),
    ("of('base = \"own.toml\"')", ss.SpecError, "own.toml:1 base", "cycle"),
    ("of('base = \"g9\"')", ss.SpecError, "", "'g9'"),
    ("own('spring_facto = 0')", ss.SpecError, "own.toml:2 spring_facto", "spring_factor"),
    ("own('[front]', 'base = 1')", ss.SpecError, "own.toml:2 front", "front"),
    ("own('', 'tips = \"many\"')", ss.SpecError, "own.toml:3 tips", "an integer"),
    ("own('travel_x_mm = 0.1')", ss.SpecError, "own.toml:2 travel_x_mm", "'travel_x_um' (in um)"),
    ("own('spring_factor = -0.1')", ss.SpecError, "own.toml:2 spring_factor", "at least 0"),
    ("own('tip_rate_kbit_s = inf')", ss.SpecError, "own.toml:2 tip_rate_kbit_s", "1000000000"),
    ("own('kind = \"tape\"')", ss.SpecError, "own.toml:2 kind", "mems"),
    ("own('tips = 1', 'tips = 2')", ss.SpecError, "own.toml:3", "tips"),
    ("own('[[x]]')", ss.SpecError, "own.toml:2 x", "x"),
    ("own('spring_reference_um = 30')", ss.SpecError, "own.toml:2 spring_reference_um", "spring"),
    ("ss.device('g2', spring_facter=0.5)", ss.SpecError, " spring_facter", "did you mean"),
    ("ss.device('g2', spring=0)", ss.SpecError, " spring", "argument spring"),
    ("ss.device('g2', spring_factor='0.5')", ss.SpecError, " spring_factor", '"0.5"'),
    ("ss.device('g2', spring_factor=math.nan)", ss.SpecError, " spring_factor", "nan"),
    ("ss.device('g2', spring_factor=1.0)", ss.SpecError, " spring_factor", "below 1"),
    ("ss.device('g2', tips=2**63)", ss.SpecError, " tips", "argument tips"),
    ("ss.device('g2', buffer=BUFFER)", ss.SpecError, " buffer.segments", "segments = 0: must be"),
    ("ss.device(ss.device('mcd'), base='g1')", ss.SpecError, " base", "cannot be replaced"),
    ("ss.device(G2, sprong_factor=1)", ss.SpecError, " sprong_factor"),
    # Names of devices with keys.
    ("ss.device('g22')", ss.SpecError, "", "did you mean", "g2"),
    ("ss.device('g2(spring_facto=0)')", ss.SpecError, " spring_facto", "mean 'spring_factor'?"),
    ("ss.simulate('random', 'g2(spring_facto=0)')", ss.SpecError, " spring_facto", "_factor'?"),
    ("ss.device('g2(spring_factor=7)')", ss.SpecError, " spring_factor", "7: must be at"),
    ("ss.device('g2(spring_factor=8KiB)')", ss.SpecError, " spring_factor", '"8KiB"', "a number"),
    ("ss.device('g2(spring_factor)')", ss.SpecError, "", "'spring_factor' must be of the form"),
    ("ss.device('g2()')", ss.SpecError, "", "'' must be of the form key=value"),
    ("ss.device('g2(=1)')", ss.SpecError, "", "'=1' must be of the form key=value"),
    ("ss.device('g2(spring_factor=0')", ss.SpecError, "", "be NAME or NAME(key=value; key=value)"),
    ("ss.device('g4(spring_factor=0)')", ss.SpecError, "", "unknown device 'g4': did you mean"),
    ("ss.device('no.toml(spring_factor=0)')", ss.SpecError, "no.toml"),
    ("split_names('g2,,g3', '--devices')", ss.SledsimError, "", "none of them empty"),
    # Places, seeks and accesses.
    ("G2.locate(6_750_000)", ss.SpecError, " lbn", "6750000"),
    ("G2.locate(10**12)", ss.SpecError, " lbn"),
    ("G2.locate(-1)", ss.SpecError, " lbn", "lbn = -1"),
    ("G2.lbn(2500, 0, 0, 0)", ss.SpecError, "", "2500"),
    ("G2.lbn(0, 0, 27, 0)", ss.SpecError, "", "27"),
    ("G2.lbn(0, 0, 0, -1)", ss.SpecError, " cell", "cell = -1"),
    ("G2.access(6_749_999, 2)", ss.SpecError, "", "6749999"),
    ("G2.access(0, 0)", ss.SpecError, "", "0 blocks"),
    ("G2.access(0, 2**32)", ss.SpecError, " blocks", "blocks"),
    ("G2.access(0, 1, op='erase')", ss.SpecError, " op", "'erase'"),
    ("G2.access(0, 1, start=(51e-6, 0, 1))", ss.SpecError, " x", "x = "),
    ("G2.seek((0, 0, 0), (0, 0, 1))", ss.SpecError, " direction", "direction = 0"),
    ("G2.seek((0, 0, 'left'), (0, 0, 1))", ss.SpecError, " direction", "'left'"),
    ("G2.seek((math.inf, 0, 1), (0, 0, 1))", ss.SpecError, " x", "x = inf"),
    ("G2.seek(0, 1000)", ss.SpecError, " point", "point = 0: must be (x_m, y_m, direction)"),
    ("DISK.locate(17_938_986)", ss.SpecError, "", "17938985"),
    ("DISK.locate(-1)", ss.SpecError, " lbn", "lbn = -1"),
    ("DISK.lbn(10_042, 0, 0)", ss.SpecError, "", "cylinder 10042"),
    ("DISK.lbn(0, 6, 0)", ss.SpecError, "", "head 6"),
    ("DISK.lbn(0, 0, 334)", ss.SpecError, "", "334 sectors"),
    ("DISK.lbn(0, 0, -1)", ss.SpecError, " sector", "sector = -1"),
    ("DISK.seek(0, 17_938_986)", ss.SpecError, "", "17938985"),
    ("DISK.seek(0, 1, op='erase')", ss.SpecError, " op", "'erase'"),
    ("DISK.seek_ms(10_042)", ss.SpecError, "", "10041"),
    ("DISK.seek_ms(1, op='erase')", ss.SpecError, " op", "'erase'"),
    ("DISK.access(0, 1)", ss.SpecError, "", "atlas10k"),
    # Loads, traces and scenarios.
    ("ss.workload('random', rate=-1)", ss.SpecError, " rate"),
    ("ss.workload('random', rate=object())", ss.SpecError, " rate"),
    ("ss.workload('random', requests=0)", ss.SpecError, " requests", "requests = 0"),
    ("ss.workload('random', requests=2.5)", ss.SpecError, " requests", "2.5: must be an integer"),
    ("ss.workload('random', requests=-1e2)", ss.SpecError, " requests", "-100.0", "an integer"),
    ("ss.workload('random', requests=1e300)", ss.SpecError, " requests", "= 1000", "an integer"),
    ("ss.workload('random', requests=2.0**63)", ss.SpecError, " requests", "must be an integer"),
    ("ss.workload('random', requests=math.nan)", ss.SpecError, " requests", "nan", "an integer"),
    ("ss.workload('random', requests=np.float64(0.5))", ss.SpecError, " requests", "an integer"),
    ("ss.workload('random', rate=10**5000)", ss.SpecError, " rate", "argument rate: does not fit"),
    ("ss.workload('random', rates=5)", ss.SpecError, " rates", "argument rates"),
    ("ss.workload('zipf', alpha=0.9)", ss.SpecError, " alpha", "did you mean 'zipf_exponent'?"),
    ("ss.workload('zipf').with_keys(kind='random')", ss.SpecError, " kind", "kind"),
    ("ss.workload('seq')", ss.SpecError, "", "'seq'"),
    ("ss.read_trace('x', address='fold')", ss.SpecError, " address", "fold"),
    ("ss.read_trace('postmark')", ss.TraceError, "postmark", "did you mean sample:postmark-ext4?"),
    ("ss.trace_info('none.trace')", ss.TraceError, "none.trace"),
    ("ss.trace_info('cut.vscsi', format='vscsi')", ss.TraceError, "cut.vscsi"),
    ("ss.trace_info('damaged.parquet')", ss.TraceError, "damaged.parquet"),
    ("of('1 0 5 0 1\\n', ss.trace_info, 'own.trace')", ss.TraceError, "own.trace:1"),
    ("ss.simulate('bad.trace', 'g2')", ss.TraceError, "bad.trace:2"),
    ("ss.simulate(ss.read_trace('none.trace'), 'g2')", ss.TraceError, "none.trace"),
    ("ss.simulate(ss.read_trace('past.trace'), 'g2')", ss.TraceError, "past.trace:3", "before"),
    ("ss.disksim.import_device('bad.parv', 'out.toml')", ss.SpecError, "bad.parv:1"),
    ("ss.scenario('scenario.toml')", ss.SpecError, "scenario.toml:5 workload.rate"),
    ("ss.scenario('no.toml')", ss.SpecError, "no.toml"),
    ("ss.scenario('mcd-hplajw-lik')", ss.SpecError, "", "mcd-hplajw-lik"),
    ("scenario('[sheduler]', 'name = \"fcfs\"')", ss.SpecError, "own.toml:3 sheduler", "scheduler"),
    ("scenario('[workload]', 'rat = 5')", ss.SpecError, "own.toml:4 workload.rat", "workload.rate"),
    ("scenario('[scheduler]', 'name = \"best\"')", ss.SpecError, "", "fcfs"),
    ("scenario('[workload]', 'kind = \"trace\"')", ss.SpecError, "own.toml workload.file", "file"),
    ("scenario('[workload]', SAMPLE)", ss.SpecError, "own.toml:5 workload.file", "sample:none"),
    ("scenario('[workload]', 'file = \"x\"')", ss.SpecError, "own.toml:4 workload.file", "trace"),
    ("of('[workload]\\nrate = 5\\n', ss.scenario)", ss.SpecError, "", "device"),
    # Values as TOML.
    ("ss.Device.from_toml('kind = ', 'own')", ss.SpecError, "own.toml:1"),
    ("ss.Device.from_toml(G2.to_toml() + 'tipz = 1')", ss.SpecError, "device.toml:46 tipz"),
    ("ss.Device.from_toml(LAID)", ss.SpecError, "device.toml:46 layout.name"),
    ("ss.Layout.from_toml(G2.to_toml())", ss.SpecError, " layout", "has no layout"),
    ("ss.Load.from_toml('rate = \"x\"')", ss.SpecError, "load.toml:1 rate"),
    ("ss.Load.from_toml('rate = 1\\nsha256 = \"0\"')", ss.SpecError, "load.toml:2 sha256"),
    ("ss.Load.from_toml('kind = \"trace\"')", ss.SpecError, "load.toml file", "file"),
    # Simulations and their rows.
    ("ss.simulate({'rate': 5}, 'g2')", ss.SpecError, " load", "= {'rate': 5}: must be ", " base"),
    ("ss.simulate('random', {'spring_factor': 0})", ss.SpecError, " device", "must be ", " base"),
    ("ss.simulate('random', {'base': 'g2', 3: 4})", ss.SpecError, " device", "must be ", " base"),
    ("ss.simulate({'base': 'randon'}, 'g2')", ss.SpecError, " load", "'randon': must be a"),
    ("ss.simulate({'base': 'random', 'rat': 5}, 'g2')", ss.SpecError, " rat"),
    ("ss.simulate('random', {'base': 'g2', 'spring_facto': 0})", ss.SpecError, " spring_facto"),
    ("ss.simulate('random', {'base': {'base': 'g2'}})", ss.SpecError, " device", "device = "),
    ("ss.simulate('random', 7)", ss.SpecError, " device", "7: must be ", " mapping with a base"),
    ("ss.simulate('g2', LOAD)", ss.SpecError, " device", "<sledsim load random>: must be"),
    ("ss.simulate(G2, 'g2')", ss.SpecError, " load", "load = <sledsim device g2"),
    ("ss.simulate('rnadom', 'g2')", ss.SpecError, " load", "'rnadom': must be a workload (random"),
    ("ss.simulate(LOAD, G2, 'best')", ss.SpecError, "", "'best'"),
    ("ss.simulate(ss.workload(last_lbn=10**9), G2)", ss.SpecError, " last_lbn", "last_lbn"),
    ("ss.simulate(LOAD, G2, rows=10_000)", ss.SpecError, " rows", "10000: must be True, False"),
    ("ss.simulate(LOAD, G2, rows='no/x')", ss.OutputError, "no/x"),
    ("ss.simulate(LOAD, G2, rows='none/rows.parquet')", ss.OutputError, "none/rows.parquet"),
    ("ss.simulate(LOAD, G2, precision='x%')", ss.SpecError, " precision", "'x%': must be above 0%"),
    ("ss.simulate(LOAD, G2, replications=1.5)", ss.SpecError, " replications", "1.5", "an integer"),
    ("ss.simulate(LOAD, G2, replications=10**9)", ss.SpecError, " replications"),
    ("ss.simulate(LOAD, G2, replications=10**5000)", ss.SpecError, " replications", "<int"),
    ("ss.simulate(LOAD, G2, replications=2, rows=True)", ss.SpecError, " replications", "single"),
    ("ss.simulate(LOAD, G2, replications=2).to_pandas()", RuntimeError, "", "kept of a single run"),
    ("ss.simulate(LOAD, G2, parts=True, rows=False)", ss.SpecError, " parts", "rows"),
    ("ss.simulate(LOAD, G2, parts=True, replications=2)", ss.SpecError, " replications", "rows"),
    ("ss.simulate(LOAD, G2, rows=False).rows", RuntimeError, "", "rows=True"),
    ("ss.simulate(LOAD, G2, rows=False).to_pandas()", RuntimeError, "", "rows were not kept"),
    ("ss.simulate(LOAD)", TypeError, ""),
    ("ss.simulate(LOAD, G2, thread=1)", TypeError, ""),
    ("ss.generate_trace(LOAD, 'none/out.csv', device='g2')", ss.OutputError, "none/out.csv"),
    ("run().rows['seek']", ss.SpecError, " column", "column = 'seek': must be one of id, "),
    ("run().rows[10_000]", IndexError, "", "row 10000 of 10000"),
    ("run().rows[::2]", ss.SpecError, " step", "step = 2: must be 1"),
    ("run().percentile(0)", ss.SpecError, " percent"),
    ("run().percentile(-1)", ss.SpecError, " percent"),
    ("run().percentile(101)", ss.SpecError, " percent"),
    # Comparisons.
    ("ss.compare(LOAD, [])", ss.SpecError, "", "nothing to compare"),
    ("ss.compare(LOAD, ['g2', 'g1', 'g2'])", ss.SpecError, "", "'g2' is compared with itself"),
    ("ss.compare(LOAD, PAIR, ['elevator'])", ss.SpecError, "", "unknown scheduler 'elevator'"),
    ("ss.compare(LOAD, ['g2', 'flash'], layout='columnar')", ss.SpecError, " name", "'flash'"),
    ("ss.compare(LOAD, PAIR, precision=2)", ss.SpecError, " precision", "precision = 2"),
    ("ss.compare(OPEN, PAIR, paired=1)", ss.SpecError, " paired", "paired = 1: must be True"),
    ("ss.compare(OPEN, PAIR, paired='yes')", ss.SpecError, " paired", "'yes': must be True"),
    ("ss.compare(OPEN, PAIR, paired=None)", ss.SpecError, " paired", "paired = None: must be True"),
    ("ss.compare(OPEN, PAIR, paired=True, replications=2)", ss.SpecError, " paired", "repl"),
    ("ss.compare(LOAD, PAIR, paired=True)", ss.SpecError, " paired", "= True: must be given with"),
    ("ss.compare('postmark', PAIR, paired=True)", ss.SpecError, " paired", "with an open load"),
    ("ss.compare(ss.workload(queue_depth=4), PAIR, paired=True)", ss.SpecError, " paired"),
    ("ss.compare({'base': 'mix', 'part': PARTS}, PAIR, paired=True)", ss.SpecError, " paired"),
    ("paired().differences('g1')", ss.SpecError, " label", "baseline: g2"),
    ("paired().differences('g7')", ss.SpecError, " label", "baseline: g2"),
    ("paired().differences(None)", ss.SpecError, " label", "baseline: g2"),
    ("paired().runs[0].rows", RuntimeError, "", "rows were not kept in"),
    ("ss.compare(OPEN, ['g2'], paired=True).differences('g2')", ss.SpecError, " label", "none"),
    ("unpaired().differences('g2')", RuntimeError, "", "compare(..., paired=True) makes them"),
    ("ss.plots.differences(unpaired())", ss.SledsimError, "", "compare(..., paired=True)"),
    ("ss.plots.differences('g2')", ss.SledsimError, "", "has no pairs"),
    # Studies.
    ("sweep(grid={'rat': [1, 2]})", ss.SpecError, " rat", "rat = 1: ", "did you mean 'rate'"),
    ("sweep(grid={'rate': []})", ss.SledsimError, "", "grid: rate: has no values"),
    ("sweep(grid={'rate': 5})", ss.SpecError, " grid: rate", "grid: rate = 5: must be a sequence"),
    ("sweep(grid={'rate': '100,200'})", ss.SpecError, " grid: rate", "must be a sequence"),
    ("sweep(zip={'rate': [1, 2], 'seed': [1]})", ss.SledsimError, "", "rate has 2, seed has 1"),
    ("sweep(grid={'rate': [1]}, zip={'rate': [2]})", ss.SledsimError, "", "in grid and in zip"),
    ("sweep(grid={'rate': [300, 'fast']})", ss.SpecError, " rate", '"fast"', "a number"),
    ("sweep(grid={'rate': [300, 300.0]})", ss.SledsimError, "", "rate = 300.0: is there twice"),
    ("sweep(grid={'spring_factor': [0]})", ss.SledsimError, "", "mean 'device.spring_factor'"),
    ("sweep(grid={'device': ['g2', 'g9']})", ss.SpecError, "", "unknown device 'g9'"),
    ("sweep(grid={'scheduler': ['stpf']})", ss.SpecError, "", "sptf"),
    ("sweep(grid={'rate': [1]}, where=lambda _point: False)", ss.SledsimError, "", "no point"),
    ("sweep(exclude=[{'ratee': 1}])", ss.SledsimError, "", "exclude: unknown key 'ratee'"),
    ("sweep(rows=[])", ss.SledsimError, "", "rows: has no row"),
    ("sweep(rows=[{'rate': 1}, {'seed': 1}])", ss.SledsimError, "", "keys seed; must have rate"),
    ("sweep(rows=[{'rate': math.nan}])", ss.SledsimError, "", "row 0: rate has no value"),
    ("sweep(rows=7)", ss.SpecError, " rows", "must be a data frame"),
    ("sweep(replications=0)", ss.SpecError, " replications", "0: must be an integer"),
    ("sweep(experiment='crash')", ss.SpecError, " experiment", "simulate, crash_test, hit"),
    ("sweep(grid={'crash.points': [1]})", ss.SledsimError, "", "_test, and the experiment is"),
    ("sweep(run_rows=True)", ss.SpecError, " run_rows", "given with output"),
    ("sweep(parts=True)", ss.SpecError, " parts", "given with run_rows=True"),
    ("sweep(grid={'seconds': [1]})", ss.SledsimError, "", "every study has a column of that name"),
    ("sweep(workers='threadz')", ss.SpecError, " workers", 'must be a number, "threads"'),
    ("sweep(workers='processes:0')", ss.SpecError, " workers", "from 1 to 1024"),
    ("sweep(workers=0)", ss.SpecError, " workers", "from 1 to 1024"),
    ("sweep(workers=3.5)", ss.SpecError, " workers", "must be"),
    ("ss.sweep(SQLITE, replications=2)", ss.SpecError, " replications", "a trace has no seed"),
    ("swept().plot('rat', 'queue_ms.mean')", ss.SpecError, " x", "must be"),
    ("swept().plot('rate', 'mean')", ss.SpecError, " y", "must be"),
    ("sweep(exclude=5)", ss.SpecError, " exclude", "exclude = 5"),
    ("sweep(replications=10**5000)", ss.SpecError, " replications", "replications = <int: Exceeds"),
    ("ss.sweep({'device': 'g2', 'rate': 10**5000})", ss.SpecError, " rate", "rate = <int: Exceeds"),
    ("ss.sweep({'device': 'g2', 'rate': RING})", ss.SpecError, " rate", "rate = [[...]]"),
    ("ss.sweep({'device': '\\ud800'})", ss.SpecError, " device", "must be a path that files can"),
    ("axis('rate')", ss.SledsimError, "", "must be"),
    ("axis('rate=')", ss.SledsimError, "", "must be"),
    ("axis('=1,2')", ss.SledsimError, "", "must be"),
    ("axis('rate=1,,2')", ss.SledsimError, "", "must be"),
    ("ss.sweep(SMALL, output='bad.parv')", ss.SledsimError, "bad.parv", "cannot be used as the"),
    ("ss.sweep(SMALL, output='/proc/study')", ss.SledsimError, "/proc/study", "cannot be used as"),
    ("ss.sweep(SMALL, output='.')", ss.SledsimError, "", "holds files and no study"),
    ("study(b'{')", ss.SledsimError, "study.json", "study.json: cannot be read"),
    ("study(b'[]')", ss.SledsimError, "study.json", "study.json: ", "must be a JSON object"),
    ("study(b'null')", ss.SledsimError, "study.json", "must be a JSON object"),
    ("study(b'1')", ss.SledsimError, "study.json", "must be a JSON object"),
    ("study(b'\"\"')", ss.SledsimError, "study.json", "must be a JSON object"),
    ("study(b'')", ss.SledsimError, "study.json", "Expecting value"),
    ("study(b'\\xff\\xfe{')", ss.SledsimError, "study.json", "utf-8"),
    ('study(b\'{"format": 1, "exp\')', ss.SledsimError, "study.json", "Unterminated"),
    ("study(b'[' * 100_000)", ss.SledsimError, "study.json", "nest too deep"),
    ("study(HUGE)", ss.SledsimError, "study.json", 'line 2: "format": 9'),
    ("study(b'{}')", ss.SpecError, "study.json format", "format = None: must be 1"),
    ("study(b'{\"format\": 1}')", ss.SledsimError, "study.json experiment", "it has no experiment"),
    ("study(BEGUN + b'\"parameters\": 5}')", ss.SledsimError, "study.json parameters", "no"),
    ("study(NO_BASE)", ss.SledsimError, "study.json fixed", "it has no fixed"),
]
