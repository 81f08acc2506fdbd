"""Refusals of traces, fio jobs, parameter files and loads."""

from __future__ import annotations

from typing import Any

import sledsim as ss

from tests.refusals import parameter_files
from tests.refusals.parameter_files import given

LINES: list[tuple[str, ...]] = [
    ("trace info a.trace --format punched", "'punched'", "disksim_ascii"),
    ("trace info a.trace --sort -1", "sort", "from 0"),
    ("trace info a.trace --sort nan", "sort"),
    ("trace info a.trace --max-units 5", "max_units = 5", "from 64"),
    ("trace info a.trace --max-units 0", "--max-units 0", "from 1"),
    ("trace info a.trace --interleave -4", "--interleave -4"),
    ("trace info a.trace --plot x.bmp2", "--plot x.bmp2", ".png"),
    ("trace info a.trace --plot none/x.png", "--plot none/x.png", "folder"),
    ("trace info none.trace", "none.trace: No such file"),
    ("trace hits none.trace", "none.trace: No such file"),
    ("trace info", "FILE"),
    ("trace convert a.trace", "-o"),
    ("trace convert -o out.trace", "IN"),
    ("trace convert a.trace none.trace -o out.trace", "none.trace: No such file"),
    ("trace convert a.trace -o none/out.trace", "none/out", "folder"),
    ("trace convert a.trace -o out.trace --to punched", "punched", "disksim_ascii"),
    ("trace convert a.trace -o out.trace --from 5 --until 3", "until = 3", "from = 5"),
    ("trace convert a.trace -o out.trace --from -1", "from = -1"),
    ("trace convert a.trace -o out.trace --every 0", "--every 0"),
    ("trace convert a.trace -o out.trace --sample 1.5", "sample = 1.5", "at most 1"),
    ("trace convert a.trace -o out.trace --every 2 --sample 0.5", "--every", "--sample"),
    ("trace convert a.trace -o out.trace --seed 5", "--seed", "--sample"),
    ("trace convert a.trace -o out.trace --device 5", "none of 3 requests", "other_devices"),
    ("trace convert a.trace -o out.trace --time-scale 0", "time_scale = 0"),
    ("trace convert a.trace -o out.trace --requests 0", "--requests 0", "from 1"),
    ("trace convert bad.trace -o out.trace --format disksim_ascii", "bad.trace:2: field 3", "'x'"),
    ("trace convert late.trace -o x.csv", "late.trace:2", "--sort", "at least 1.500000"),
    ("trace generate --blocks 100 -o out.trace", "--workload"),
    ("trace generate --workload random -o out.trace", "--device", "--blocks"),
    ("trace generate --workload random --blocks 5 --device g2 -o out.trace", "not allowed with"),
    ("trace generate --workload rnadom --blocks 100 -o out.trace", "'rnadom'", "random"),
    ("trace generate --workload random --blocks 10000 -o out.trace", "closed", "--device"),
    ("trace generate --workload random --set rate=x --blocks 99 -o out.trace", "--set rate", "x"),
    ("trace generate --workload random --set raet=5 --blocks 99 -o out.trace", "raet", "rate"),
    ("trace generate --workload random --set rate --blocks 99 -o out.trace", "key=value"),
    ("trace generate --workload random --set rate=5 --blocks 0 -o out.trace", "--blocks 0"),
    ("trace generate --workload random --set rate=5 --blocks 1 -o out.trace", "mean_size_kib"),
    ("trace generate --workload random --blocks 99 --scheduler fcfs -o out.trace", "--scheduler"),
    ("trace generate --workload random --set rate=5 --device g22 -o out.trace", "'g22'"),
    ("run --device g2 --trace b.trace --set think=recorded", "b.trace:1: no response time"),
    ("run --device g2 --trace a.trace --set think=fixed", "think", '"recorded"'),
    ("run --device g2 --trace a.trace --set think=recorded --set queue_depth=2", "queue_depth"),
    ("run --device g2 --trace a.trace --set depends_on=all", "depends_on", "think"),
    ("run --device g2 --trace a.trace --set rate=5", "rate"),
    ("run --device g2 --trace a.trace --by-volume --rows a.csv", "--rows: must not be given with"),
    (
        "run --device g2 --trace a.trace --by-window 5 --replications 2",
        "--replications: must not be",
    ),
    ("run --device g2 --trace a.trace --by-volume --by-window 5", "-window: give one of them"),
    ("run --device g2 --trace a.trace --by-volume --warm-up 5", "--warm-up: needs --by-window"),
    ("run --device g2 --workload random --by-volume", "must be a trace"),
    ("run --device g2 --workload hotcold", "workload 'hotcold'", "did you mean 'hot_cold'?"),
    ("run --device g2 --set part.a.kind=zipf", "workload.part: must come with the workload mix"),
    ("run --device g2 --workload mix", "part: missing; must be tables, one for each workload"),
    ("run --device g2 --workload mix --set part.a.kind=zip", "did you mean 'zipf'?"),
    ("devices import bad.parv -o out.toml", "bad.parv:1: "),
]


OPEN = ss.workload("random", rate=5)
MEMORY = ss.device("memory", blocks=8 * 25_607)


def job(text: str, device: ss.Device | None = MEMORY) -> object:
    """Read a job of fio, of a section of its own or those that it names."""
    whole = text if "[" in text else f"[a]\n{text}"
    return given("x.fio", whole, lambda path: ss.fio_job(path, device=device))


def place_of(text: str) -> tuple[str, str]:
    """Return where the last option of a job stands, and how it is named."""
    lines = (text if "[" in text else f"[a]\n{text}").split("\n")
    section = [line for line in lines if line[0] == "["][-1]
    return f"x.fio:{len(lines)} {lines[-1].partition('=')[0]}", f"{section} {lines[-1]}: "


def split(by: Any, keys: dict[str, Any] | None = None, **options: Any) -> object:
    """Simulate a trace of two volumes by volume or window, with keys of the trace and options."""
    return given(
        "many.csv",
        "".join(f"{128166372003061629 + n},h,{n % 2},Read,0,512,1\n" for n in range(4)),
        lambda path: ss.simulate(ss.read_trace(path, **keys or {}), "g2", split=by, **options),
    )


CODE: dict[str, Any] = {**parameter_files.CODE, **globals()}

JOBS = [
    ("foo=1", "is not taken"),
    ("bs", "must have a value"),
    ("bs=", "must have a value"),
    ("bs=4000", "multiples of the 512 bytes"),
    ("bs=4q", "an integer, which may end in k"),
    ("bs=4kib", "differ on ki and KiB"),
    ("kb_base=1025", "must be 1000 or 1024"),
    ("size=$ncpus", "no $NAME"),
    ("size=(4k*2)", "an integer"),
    ("size=-1", "an integer"),
    ("size=10.5%", "a whole percentage"),
    ("size=101%", "from 0% to 100%"),
    ("size=200m", "ends at byte 209715200"),
    ("offset=90m\nsize=90m", "ends at byte"),
    ("offset=100%", "leaves 0 bytes"),
    ("offset=100", "multiple of the 512"),
    ("size=1m\nrw=randread\noffset=1k", "multiple of the 4096"),
    ("[global]\nrw=randrw\n[a]\nbs=4k,8k", "the same for reads and writes"),
    ("rw=rw", "fio reads and writes on at two places"),
    ("rw=randtrim", "workloads have no trims"),
    ("rw=randread:8", "a number behind the colon"),
    ("rw=random", "must be read, write, randread"),
    ("rw=randrw\nrwmixread=101", "from 0 to 100"),
    ("iodepth=0", "from 1"),
    ("numjobs=0", "from 1 to 1000"),
    ("ioengine=cpuio", "must be one of io_uring"),
    ("thinktime=5x", "may end in us"),
    ("thinktime=5\nthinktime_blocks=4", "must be 1"),
    ("rate_iops=4\nthinktime=5", "beside rate_iops"),
    ("rw=randrw\nrate_iops=4", "reads and writes to it apart"),
    ("rate=1m", "give rate_iops"),
    ("runtime=5\ntime_based", "give requests"),
    ("runtime=5\ntime_based=yes", "must be 0 or 1"),
    ("filename=/dev/a:/dev/b", "one file"),
    ("nrfiles=4", "a job has one file"),
    ("[a]\n[b]\nstonewall", "run the jobs one by one"),
    ("[a]\n[b]\nwait_for=a", "run the jobs one by one"),
    ("fsync=32", "no flushes"),
    ("verify=crc32c", "do not read what they wrote"),
    ("ramp_time=5", "warm_up_s"),
    ("zonesize=1m", "is not taken"),
    ("bs=4k,4k,4k,4k", "at most three"),
    ("bssplit=4k:8k\nbsrange=4k-8k", "beside bssplit"),
    ("bsrange=4k", "two sizes"),
    ("bsrange=4k-10k", "10240 bytes"),
    ("bsrange=512-1g", "at most 4,096"),
    ("bssplit=4k/50:8k/30", "are 80 in all"),
    ("bssplit=4k/50:4k/50", "name a size once"),
    ("bssplit=4k/50:6k/50", "6144 bytes"),
    ("rw=randread\nba=8k", "divides the size"),
    ("rw=randread\nrandom_distribution=normal:50", "zipf:THETA"),
    ("rw=randread\nrandom_distribution=pareto:1", "below 1"),
    ("rw=randread\nrandom_distribution=pareto", "pareto:H"),
    ("rw=randread\nrandom_distribution=zipf:1.0", "theta of 1"),
    ("rw=randread\nrandom_distribution=zipf:x", "above 0"),
]
"""Jobs of fio whose last option is wrong, in a section ``[a]`` if they name none; words."""

SPECS: list[tuple[str, ...]] = [
    ("job('bs = 4k')", "x.fio:2 bs", "[a] bs=4k: must have no blank behind ="),
    (
        "job('[global]\\nkb_base=1000\\n[a]\\nsize=1m')",
        "x.fio:2 kb_base",
        "[global] kb_base=1000: 4000",
    ),
    ("job('bs=4k\\n[a]')", "x.fio:1", "line 1: bs=4k: must stand in a section"),
    ("job('BS=4k')", "x.fio:2", "line 2: BS=4k: must be an option"),
    ("job('[a')", "x.fio:1", "line 1: [a: must be [NAME]"),
    ("job('[]')", "x.fio:1", "line 1: []: must be [NAME]"),
    ("job('[a]x')", "x.fio:1", "line 1: [a]x: must be [NAME]"),
    ("job('include other.fio')", "x.fio:2", "line 2: include other.fio: must be an option"),
    ("job('[global]\\nbs=4k')", "x.fio", "has no job"),
    ("given('x.fio', '', ss.fio_job)", "x.fio", "has no job"),
    ("given('x.fio', 'fio version 2 iolog', ss.fio_job)", "x.fio", "which is a trace"),
    ("given('x.fio', b'\\xff\\xfe[a]', ss.fio_job)", "x.fio", "must be text in UTF-8"),
    ("job('size=10%', device=None)", "x.fio:2 size", "size=10%: needs the device"),
    ("job('offset=10%\\nsize=1m', device=None)", "x.fio:2 offset", "offset=10%: needs the device"),
    ("job('rw=read', device=None)", "x.fio:1 size", "is missing: a job without one works on all"),
    ("ss.trace_info('a.trace', format='x')", "", "'x'"),
    ("ss.trace_info('a.trace', max_units=1)", " max_units", "from 64"),
    ("ss.convert_trace([], 'out')", "", "at least one trace"),
    ("ss.convert_trace('a.trace', 'out', every=2, sample=0.5)", "", "every and sample"),
    ("ss.convert_trace('a.trace', 'out', until_s=float('nan'))", " until_s", "must be a finite"),
    ("ss.generate_trace(OPEN, 'out')", "", "device or blocks"),
    ("ss.generate_trace(OPEN, 'out', device='g2', blocks=5)", "", "device or blocks"),
    ("ss.generate_trace(OPEN, 'out', device='g2', scheduler='x')", "", "'x'"),
    ("ss.workload('mix', part={'a': {'rates': 5}})", " part.a.rates", "argument part: unknown key"),
    ("ss.workload('mix', part={'a': {'rate': {5}}})", " part.a.rate", "must be a number"),
    ("ss.workload('mix', part={3: {}})", " part", "argument part: key 3: must be a string"),
    ("ss.read_trace([{'t': 1}, 5])", " trace[1]", "trace[1] = 5: must be a mapping: "),
    ("ss.read_trace(7)", " trace", "trace = 7: must be"),
    ("ss.workload('random', queue_depth=2).to_polars(blocks=1000)", "", "device"),
    ("ss.simulate('random', 'g2', split='volumes')", " load", "load = 'random': must be a trace"),
]

LEFT_OUT: list[tuple[str, object]] = [
    *[("background", "scan"), ("rows", "a.csv"), ("rows", True), ("parts", True), ("series", True)],
    *[("series_ms", 5), ("precision", 0.1), ("replications", 2)],
]
SPLITS = [
    ("'volumes', {'trace_device': 'host0.0'}", "trace_device: must not be given by volume"),
    ("'volumes', {'requests': 5}", "requests: must not be given by volume"),
    ("5, {'queue_depth': 1}", "queue_depth: must not be given by window"),
    ("5, {'think': 'recorded'}", "think: must not be given by window"),
    ("5, {'address': 'scale'}", 'address: "scale" must not be given by window'),
    ("5, {'address': 'compact'}", 'address: "compact" must not be given by window'),
    ("5, {'trace_device': 'separate'}", 'trace_device: "separate" must not'),
    ("5, {'warm_up_s': 1}", "warm_up_s: must not be a key of the trace by window"),
    ("5, warm_up_s=500", "warm_up_s: must be at most 16 windows, 80 s"),
    ("5, warm_up_s=-1", "warm_up_s = -1: must be a finite number"),
    ("'volumes', warm_up_s=5", "warm_up_s = 5: must be left out by volume"),
    ("None, warm_up_s=5", "warm_up_s = 5: must be given with split=SECONDS"),
    ("None, folder='a'", "folder = 'a': must be given with split="),
    ("None, table='a.csv'", "table = 'a.csv': must be given with split="),
    ("None, workers='threads:2'", "workers = 'threads:2': must be an integer"),
    ("'volumes', workers='cars'", "workers = 'cars': must be"),
    ("'volumes', workers=0", "workers = 0: must be an integer from 1 to 1024"),
    ("'volumes', scheduler='sooner'", "unknown scheduler"),
    ("0", 'split = 0: must be "volumes", or the length of windows in s'),
    *[(repr(by), f"split = {by!r}: must be") for by in ("volume", "10", True, ["volumes"])],
    ("float('nan')", "split = nan: must be"),
    *[
        (f"'volumes', {name}={value!r}", f"{name} = {value!r}: must be left out with split")
        for name, value in LEFT_OUT
    ],
]
"""Ways to split a trace, and the error, which carries the key that it begins with and ``=``."""

CALLS: list[tuple[Any, ...]] = [
    *parameter_files.CALLS,
    *[(f"job({text!r})", ss.SpecError, *place_of(text), words) for text, words in JOBS],
    *[(code, ss.SpecError, *row) for code, *row in SPECS],
    *[
        (f"split({given})", ss.SpecError, f" {key}" if is_value else "", words)
        for given, words in SPLITS
        for key, is_value, _ in [words.partition(" = ")]
    ],
    ("split(5)", ss.TraceError, "many.csv:2", "trace_device = "),
    ("split('volumes', table='v.txt')", ss.OutputError, "v.txt", "must end in .parquet or .csv"),
    ("split('volumes', folder='none/parts')", ss.SledsimError, "", "cannot be made: No such file"),
    ("split('volumes', folder='a.trace')", ss.SledsimError, "", "cannot be read: Not a directory"),
    ("ss.fio_job('none.fio')", ss.SledsimError, "none.fio", "No such file"),
]
