"""A paper of the tests with all kinds of values, and text with markup."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from sledsim import papers
from sledsim.papers import Paper, Result, model
from sledsim.papers.page import page

from tests.shown_page import Shown

HOSTILE = """</p><script>alert("1")</script> & 'b' <img src=x onerror=y> ]]> -->"""
NOISE = 'error_from = "sampling", error_because = "Noise."'
OTHERS = "".join(
    f'[readings.reading_number_{n}]\nwhat = "Otherwise {n}."\nsetup = {{ which = {n} }}\n'
    for n in range(7)
)
NAMES = [f"configuration_number_{number}" for number in range(12)]
FILES = {
    "paper.toml": f"""
order = 2001
title = '''{HOSTILE}'''
authors = '''A. {HOSTILE}'''
published = '''In {HOSTILE}'''
summary = '''Summed up {HOSTILE}'''
items = ["all", "wide", "empty"]
left_out = [{{ place = '''Figure 1 {HOSTILE}''', because = '''Drawn {HOSTILE}''' }}]
""",
    "setup.toml": f"""
how = '''The same bus {HOSTILE}'''
setup = {{ which = 0 }}
[readings]
more_of_it = {{ what = '''More {HOSTILE}''', setup = {{ which = 1 }} }}
"less <b>" = {{ what = "Less", setup = {{ which = 2 }} }}
{OTHERS}""",
    "all.toml": f"""
title = '''All kinds {HOSTILE}'''
place = '''Figure 2 {HOSTILE}'''
how = '''
First part {HOSTILE}

Second part
'''
readings = ["more_of_it", "less <b>"]
points = [{{ x = 0.5, y = 0.5, what = '''point {HOSTILE}''' }}]
[values]
exact = {{ what = '''exact {HOSTILE}''', published = "6400", exact = true }}
range = {{ what = "range", unit = "um", published = ["2", "4.5"], kind = "between", exact = true }}
unknown = {{ what = "unknown", published = "20" }}
given = {{ what = "given", published = "20", class = "input", because = "It is handed in." }}
chosen = {{ what = "chosen", published = "20", class = "calibrated", because = "By its factor." }}
clock = {{ what = "clock", published = "20", class = "not_modelled", because = "No clock." }}
order = {{ what = "order", unit = "s", published = ["a <b>", "b & c", "d"], kind = "order" }}
zero = {{ what = "zero", published = "0.000", error = 0.0005, {NOISE} }}
tiny = {{ what = "tiny", unit = "s", published = "2.5e-9" }}
huge = {{ what = "huge", unit = "bytes", published = "3456000000" }}
share = {{ what = "share", unit = "%", published = "40", error = 0.5, {NOISE} }}
[values.near]
what = "near"
place = '''Section 9 {HOSTILE}'''
unit = "ms"
published = "0.90"
error = 0.005
error_from = "figure"
error_because = '''Rounded {HOSTILE}'''
[values.below]
what = "below"
unit = "m/s2"
published = ["-0.5", "-0.25"]
kind = "between"
exact = true
because = '''It is too high {HOSTILE}'''
history = [{{ key = "tolerance", old = "0.75", new = "0", why = '''Widened before {HOSTILE}''' }}]
[values.printed]
what = "printed"
unit = "<u>"
published = "1.49"
class = "erratum"
because = '''Because {HOSTILE}'''
expected = {{ value = 2.08, arithmetic = "1.04 * 2" }}
[values.lost]
what = "lost"
published = "20"
because = "It was argued in vain"
expected = {{ value = 30, computed = "paper2001.lost" }}
[values.shape]
what = "shape"
published = "rises ever less"
kind = "shape"
tolerance = 0.5
tolerance_because = "Noise."
""",
    "all.py": '''"""Some </code></pre><script> & code."""
from sledsim.papers import Found

def simulate(*, quick: bool, setup) -> Found:
    values = {
        "exact": 6400.0, "near": 0.90312, "range": 4.5, "below": 0.25, "printed": 2.0818,
        "lost": 25.0, "unknown": 25.0, "given": 20.0, "chosen": 20.4,
        "order": {"d": 3.0, "a <b>": 1.0000123, "b & c": 1.0000223},
        "shape": [0.0, 1.0, 1.5, 1.75], "zero": -0.0004, "tiny": 2.5e-9, "huge": 3456000000.0,
        "share": 40.5,
    }
    if setup["which"] == 1:
        values |= {"near": 1.0, "order": {"d": 1.0, "a <b>": 1.0, "b & c": 2.0}}
    return Found(values)

def draw(figure, found):
    axes = figure.add_subplot()
    axes.plot([0, 1], [0, 1], label="<b>line</b> & more")
    axes.imshow([[0, 1], [1, 0]], extent=(0, 1, 0, 1))
    axes.legend()
''',
    "wide.toml": f"""
title = "A table with much in a row"
place = "Table 3"
how = "Somehow."
readings = {[f"reading_number_{n}" for n in range(7)]}
[values]
mean = {{ what = "{"a quantity with a long name, " * 8}", unit = "requests/s", \
published = "123456.789" }}
names = {{ what = "names", kind = "order", published = {NAMES} }}
""",
    "wide.py": f"""
from sledsim.papers import Found

def simulate(*, quick: bool, setup) -> Found:
    names = {{name: place + 0.123456789 for place, name in enumerate({NAMES})}}
    return Found({{"mean": 123456.789, "names": names}})

# {"one very long line of code " * 12}
""",
    "empty.toml": """title = "One"
place = "Page 4"
how = "So."
values.one = { what = "one", published = "1" }
""",
    "empty.py": """from sledsim.papers import Found

def simulate(*, quick):
    return Found({'one': 1})
""",
}


class Made(NamedTuple):
    """A report of papers, and what it was made of."""

    papers: tuple[Paper, ...]
    results: list[Result]
    text: str
    shown: Shown


def made(of: Sequence[Paper], results: list[Result]) -> Made:
    """Write a report."""
    text = page(of, results)
    return Made(tuple(of), results, text, Shown(text))


@contextmanager
def reported(root: Path) -> Iterator[tuple[Made, Made]]:
    """Report on the paper of our own, and on two items of the package beside it."""
    own = root / "paper2001"
    own.mkdir()
    for name, content in FILES.items():
        (own / name).write_text(content)
    for paper in papers.papers():
        folder = paper.items[0].folder
        (root / folder).symlink_to(model._FOLDER / folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model, "_FOLDER", root)
        patch.setattr(papers, "__path__", [str(root), *papers.__path__])
        model.papers.cache_clear()
        ours = [paper for paper in papers.papers() if paper.name == "paper2001"]
        others = [paper for paper in papers.papers() if paper.name != "paper2001"]
        tables = ["sigmetrics2000/table1", "sigmetrics2000/table2"]
        results = [
            papers.run(papers.find(names), root / "out", quick=True, workers=1)
            for names in (["paper2001"], tables)
        ]
        yield made(ours, results[0]), made(others, results[1])
    model.papers.cache_clear()
    for name in [name for name in sys.modules if name.startswith("sledsim.papers.paper2001")]:
        del sys.modules[name]
