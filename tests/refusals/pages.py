"""Refusals of pictures, reports, pages and tables."""

from __future__ import annotations

from typing import Any

import sledsim as ss
from matplotlib.figure import Figure
from sledsim import plots
from sledsim.show import pages as reports

LOAD = ss.workload("random", requests=10)
TWICE: dict[str, Any] = {"scheduler": ["fcfs", "sptf"], "rate": [5, 10]}
KEYS: dict[str, Any] = {"device": ["g1", "g2", "g3"], **TWICE, "mean_size_kib": [4, 16]}
CODE: dict[str, Any] = {
    "ss": ss,
    "plots": plots,
    "reports": reports,
    "LOAD": LOAD,
    "AX": Figure().subplots(),
    "RUN": ss.simulate(LOAD, "g2"),
    "BARE": ss.simulate(LOAD, "g2", rows=False),
    "LONG": ss.simulate(ss.workload("random", requests=1001), "g2"),
    "TWO": ss.compare(LOAD, ["g2", "g3"]),
    "THREE": ss.compare(LOAD, ["g1", "g2", "g3"]),
    "STREAM": ss.simulate(ss.read_trace(LOAD.to_polars("mcd")), "mcd"),
    "SPLIT": ss.simulate("sample:sqlite", "g2", split=20.0),
    "SAMPLE": ss.trace_info("sample:postmark-ext4", quick=True),
    "MEAN": "response_time_ms.mean",
    "STUDY": ss.sweep({"requests": 3}, grid=KEYS),
    "EIGHT": ss.sweep({"requests": 3}, grid={"device": ss.devices()[:8], "rate": [5, 10]}),
    "DISK": ss.sweep({"device": "atlas10k", "requests": 3}, grid=TWICE),
}
REPORTED = [
    "run --device g2 --set requests=999999999",
    "compare --devices g2,g3 --set requests=999999999",
    "validate --device g2 --trace none.validate",
    "crash --device g2",
    "sweep --device g2 --vary rate=1,2",
    "bench-app postmark --replay",
]
TABLED = [
    *REPORTED[:2],
    *REPORTED[4:5],
    "validate --published barracuda2t",
    "run --device g2 --trace sample:postmark --by-window 5",
]
PLOTTED = [
    "trace info sample:postmark-ext4 --quick",
    "trace hits sample:postmark-ext4 --sizes 1,4 --policies lru",
    "sweep --device g2 --vary rate=100,200 --axes rate,queue_ms.mean",
    "bench-app postmark --replay --devices g2",
]
ENDLESS = "run --device g2 --set requests=1000000000000"
SWEEP = "sweep --device=g2 --vary=rate=1,3 --vary=scheduler=fcfs,sptf --vary=mean_size_kib=4,16"
ENDS = ".pftrace or .perfetto-trace"
LINES: list[tuple[str, ...]] = [
    *((f"{command} --report page.txt", "must end in .html") for command in REPORTED),
    *((f"{command} --report none/page.html", "its folder does not exist") for command in REPORTED),
    *(
        (f"{command} --trace plot.html --report plot.html", "is another file")
        for command in ("compare --devices g2,g3", "validate --device g2", *REPORTED[3:5])
    ),
    *((f"{command} --table a.pdf", "--table a.pdf: must end in .tex, .csv") for command in TABLED),
    ("validate --device atlas10k --trace bad.trace --table bad.trace", ".tex, .csv or .md"),
    *((f"{line} --size=5x4", "--size 5x4: must come with --plot") for line in PLOTTED),
    ("compare --devices g2 --explore-requests 9", "--explore-requests 9: must come with --explore"),
    ("compare --devices g2 --explore run.txt", "--explore run.txt: must end in .html"),
    ("compare --devices g2 --explore x.html --explore-from -1", "--explore-from -1.0: must be"),
    ("compare --devices g2 --explore x.html --explore-requests 0", "--explore-requests 0: must be"),
    ("compare --devices g2,g3,g1 --explore x.html", "x.html: there are 3 runs; must be one of two"),
    (f"{ENDLESS} --perfetto a.json", f"--perfetto a.json: must end in {ENDS}"),
    (f"{ENDLESS} --perfetto no/a.pftrace", "no/a.pftrace: its folder does not exist"),
    (f"{ENDLESS} --perfetto .", "--perfetto .: is a folder"),
    (f"{ENDLESS} --perfetto a.pftrace --replications 2", "Perfetto is of a single run only"),
    (f"{ENDLESS} --perfetto a.pftrace --plot a.pftrace", "--plot a.pftrace: must end in"),
    (f"{ENDLESS} --perfetto a.csv", "must end in .pftrace"),
    (f"{ENDLESS} --perfetto a.pftrace --rows a.pftrace", "--rows a.pftrace: must end in"),
    (f"{ENDLESS} --plot a.svg --panel paths", "--panel paths: must be one of cdf, causes, cyl"),
    ("run --device=g2 --no-notes", "--no-notes: must come with --plot FILE"),
    (f"{SWEEP} --plot=a.svg --heat=rate,scheduler", "--heat rate,scheduler: must be X,Y,Z"),
    (f"{SWEEP} --plot=a.svg --axes=rate", "--axes rate: must be X,Y or X,Y,BY"),
    (f"{SWEEP} --set=requests=9 --plot=a.svg --heat=rate,scheduler,seek_ms.mean", "give col="),
    (f"{SWEEP} --col=rate", "--col rate: must come with --plot FILE"),
]
SPEC, OUT, ANY = ss.SpecError, ss.OutputError, ss.SledsimError
HITS = "must be what hit_ratios(load) returns"
TOLD = "at most 6 can be told apart: give col="
CALLS: list[tuple[Any, ...]] = [
    ("RUN.explore(start_ms=1e9)", ANY, "", "start_ms = 1e+09: no request arrives from"),
    ("RUN.explore(start_ms=-1)", SPEC, " start_ms", "= -1: must be"),
    ("RUN.explore(requests=0)", SPEC, " requests", "= 0: must be"),
    ("RUN.explore(at_ms='x')", SPEC, " at_ms", "= 'x': must be"),
    ("RUN.explore('run.pdf')", OUT, "", "run.pdf: must end in .html"),
    ("RUN.explore('none/run.html')", OUT, "", "none/run.html: its folder does not"),
    ("THREE.explore()", SPEC, " comparison", "'3 runs': must be one of two runs"),
    ("STREAM.explore()", ANY, "", "its load cannot be read again"),
    ("SPLIT.explore()", ANY, "", "do not keep their device"),
    *(
        (f"RUN.plot(size={size})", SPEC, " size", "must be column, page or WxH in inches")
        for size in ("'row'", "'7'", "'0x3'", "'7x-3'", "'1e3x2'", "(1, 2, 3)", "'70x3'", "7")
    ),
    ("RUN.plot(ax=AX)", SPEC, " ax", "must be 2 axes, one for each panel"),
    ("plots.cdf(RUN, ax=AX, size='page')", SPEC, " size", "must be left out where ax is"),
    ("plots.save(RUN.plot(), 'a.gif')", SPEC, " path", "ends in .png, .svg or .pdf"),
    ("plots.cdf('g2')", SPEC, " of", "= 'g2': must be a run, a comparison, or runs"),
    ("RUN.plot(panel='a')", SPEC, " panel", "'a': must be one of cdf, causes, cylinder"),
    ("RUN.plot(colour='red')", TypeError, "", "colour: no option of pictures, which are ax, size"),
    ("SAMPLE.plot()", SPEC, " picture", "= False: must be True for a picture"),
    *((f"plots.hits({rows})", SPEC, " rows", HITS) for rows in ("[]", "[{}]", "'a'", "5")),
    ("EIGHT.plot('rate', MEAN)", ANY, "", f'8 lines for device: {TOLD}"device"'),
    (
        "STUDY.plot('rate', MEAN, 'scheduler')",
        ANY,
        "",
        "12 lines for scheduler,",
        f'{TOLD}"device"',
    ),
    ("STUDY.plot('rate', MEAN, 'device')", ANY, "", "12 lines for device,", f'{TOLD}"scheduler"'),
    ("STUDY.heat('rate', 'scheduler', MEAN, row='device')", ANY, "", 'give col="mean_size_kib"'),
    ("STUDY.plot('rate', MEAN, col='rate')", SPEC, " col", "must be another key than x"),
    ("STUDY.plot('rate', MEAN, row='seed')", SPEC, " row", "must be a key that varies: "),
    ("DISK.heat('rate', 'scheduler', 'energy_j.total')", ANY, "", "none of the 4 runs has a value"),
    ("plots.seeks('atlas10k', (0, 0))", SPEC, " start_um", "left out for a disk"),
    *(
        row
        for draw in ("seeks", "layout")
        for row in (
            (f"plots.{draw}('mwb')", SPEC, "", "mwb: ", f"plots.{draw}('msst2005')"),
            (f"plots.{draw}('flash')", SPEC, "", "flash: is neither a sled nor a disk"),
        )
    ),
    ("plots.timeline(RUN)", ANY, "", "series=True"),
    *(
        (f"TWO.to_latex(label={label!r})", SPEC, " label", "must be letters, digits")
        for label in ("", "a b", "a}", r"\x", "tab:é", "50%")
    ),
    ("STUDY.means['mean']", SPEC, " column", "must be one of response_time_ms.mean, "),
    ("STUDY.to_latex(columns=['mean'])", SPEC, " columns", "'mean': must be of response_time_ms."),
    ("STUDY.means['throughput_mbs']", SPEC, " column", "one of throughput_mb_s, throughput_iops, "),
    ("TWO.to_csv(columns=['p90'])", SPEC, " columns", "'p90': must be of label, device, "),
    ("TWO.to_markdown(columns=[])", SPEC, " columns", "one name at least"),
    ("LONG.rows.to_latex()", SPEC, " rows", "at most 1,000 on a page"),
    ("LONG.rows.to_markdown()", SPEC, " rows", "at most 1,000 on a page"),
    *(
        row
        for to, ending in (("latex", "tex"), ("csv", "csv"), ("markdown", "md"))
        for row in (
            (f"TWO.to_{to}('a.txt')", OUT, "", f"a.txt: must end in .{ending}"),
            (f"TWO.to_{to}('no/a.{ending}')", OUT, "", "its folder does not exist"),
            (f"TWO.to_{to}('a.{ending}', columns=['a'])", SPEC, " columns", "must be of"),
        )
    ),
    ("RUN.to_perfetto('a.txt')", OUT, "a.txt", f"must end in {ENDS}"),
    ("BARE.to_perfetto('a.pftrace')", RuntimeError, "", "simulate(", "rows_to_perfetto"),
    ("ss.rows_to_perfetto('bad.trace', 'a.pftrace')", ss.TraceError, "bad.trace", "not a Parquet"),
    ("ss.rows_to_perfetto('none.parquet', 'a.pftrace')", ss.TraceError, "none.parquet"),
    ("RUN.report('page.pdf')", OUT, "", "must end in .html"),
    ("reports.write(5, 'page.html')", ANY, "", "must be a run"),
]
