"""A paper of the tests with all kinds of values, and text with markup."""

HOSTILE = """</p><script>alert("1")</script> & 'b' <img src=x onerror=y> ]]> -->"""

PAPER = f"""
order = 2001
title = '''{HOSTILE}'''
authors = '''A. {HOSTILE}'''
published = '''In {HOSTILE}'''
items = ["all", "wide", "empty"]
[[left_out]]
place = '''Figure 1 {HOSTILE}'''
because = '''Drawn {HOSTILE}'''
"""
ALL = f"""
title = '''All kinds {HOSTILE}'''
place = '''Figure 2 {HOSTILE}'''
how = '''
First part {HOSTILE}

Second part
'''
[hypotheses]
more_of_it = '''More {HOSTILE}'''
"less <b>" = "Less"
[values.exact]
what = '''exact {HOSTILE}'''
published = 6400
[values.near]
what = "near"
place = '''Section 9 {HOSTILE}'''
unit = "ms"
published = 0.9
tolerance = 0.01
tolerance_because = '''Rounded {HOSTILE}'''
[values.most]
what = "most"
unit = "um"
published = 4.5
kind = "at_most"
[values.least]
what = "least"
unit = "m/s2"
published = -0.5
kind = "at_least"
tolerance = 0.1
tolerance_because = '''Rounded {HOSTILE}'''
[values.argued]
what = "argued"
unit = "<u>"
published = 1.49
[values.argued.explained]
expected = 2.08
tolerance = 0.02
because = '''Because {HOSTILE}'''
source = '''A book {HOSTILE}'''
[values.lost]
what = "lost"
published = 20
[values.lost.explained]
expected = 30
because = "It was argued in vain"
source = "Nowhere"
[values.order]
what = "order"
unit = "s"
published = ["a <b>", "b & c", "d"]
kind = "order"
[values.shape]
what = "shape"
published = "rises ever less"
kind = "shape"
tolerance = 0.5
[values.zero]
what = "zero"
published = 0
tolerance = 0.001
[values.tiny]
what = "tiny"
unit = "s"
published = 2.5e-7
[values.huge]
what = "huge"
unit = "bytes"
published = 3456000000
[values.share]
what = "share"
unit = "%"
published = 40
tolerance = 1
"""
ALL_CODE = '''"""Some </code></pre><script> & code."""
from sledsim.papers import Found

def simulate(*, quick: bool) -> Found:
    values = {
        "exact": 6400.0, "near": 0.90312, "most": 4.5, "least": 0.25, "argued": 2.0818,
        "lost": 25.0, "order": {"d": 3.0, "a <b>": 1.0000123, "b & c": 1.0000223},
        "shape": [0.0, 1.0, 1.5, 1.75], "zero": -0.0004, "tiny": 2.5e-7, "huge": 3456000000.0,
        "share": 40.5,
    }
    other = {"near": 1.0, "order": {"d": 1.0, "a <b>": 1.0, "b & c": 2.0}}
    return Found(values, {"more_of_it": other, "less <b>": values})

def draw(figure, found):
    axes = figure.add_subplot()
    axes.plot([0, 1], [0, 1], label="<b>line</b> & more")
    axes.imshow([[0, 1], [1, 0]], extent=(0, 1, 0, 1))
    axes.legend()
'''
TABLE = """
title = "A table with much in a row"
place = "Table 3"
how = "Somehow."
[hypotheses]
{hypotheses}
[values.mean]
what = "{long}"
unit = "requests/s"
published = 123456.789
[values.names]
what = "names"
kind = "order"
published = [{names}]
"""
NAMES = [f"configuration_number_{number}" for number in range(12)]
WIDE = TABLE.format(
    hypotheses="\n".join(f'hypothesis_number_{n} = "Otherwise {n}."' for n in range(7)),
    long="a quantity with a long name, " * 8,
    names=", ".join(f'"{name}"' for name in NAMES),
)
WIDE_CODE = f"""
from sledsim.papers import Found

def simulate(*, quick: bool) -> Found:
    names = {{name: place + 0.123456789 for place, name in enumerate({NAMES})}}
    values = {{"mean": 123456.789, "names": names}}
    return Found(values, {{f"hypothesis_number_{{n}}": values for n in range(7)}})

# {"one very long line of code " * 12}
"""
EMPTY = 'title = "One"\nplace = "Page 4"\nhow = "So."\n[values.one]\nwhat = "one"\npublished = 1\n'
EMPTY_CODE = (
    "from sledsim.papers import Found\n\ndef simulate(*, quick):\n    return Found({'one': 1})\n"
)
