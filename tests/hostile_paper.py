"""A paper of the tests with all kinds of values, and text with markup."""

HOSTILE = """</p><script>alert("1")</script> & 'b' <img src=x onerror=y> ]]> -->"""

PAPER = f"""
order = 2001
title = '''{HOSTILE}'''
authors = '''A. {HOSTILE}'''
published = '''In {HOSTILE}'''
summary = '''Summed up {HOSTILE}'''
items = ["all", "wide", "empty"]
[[left_out]]
place = '''Figure 1 {HOSTILE}'''
because = '''Drawn {HOSTILE}'''
"""
SETUP = f"""
how = '''The same bus {HOSTILE}'''
[setup]
which = 0
[readings.more_of_it]
what = '''More {HOSTILE}'''
setup = {{ which = 1 }}
[readings."less <b>"]
what = "Less"
setup = {{ which = 2 }}
""" + "".join(
    f'[readings.reading_number_{n}]\nwhat = "Otherwise {n}."\nsetup = {{ which = {n} }}\n'
    for n in range(7)
)
ALL = f"""
title = '''All kinds {HOSTILE}'''
place = '''Figure 2 {HOSTILE}'''
how = '''
First part {HOSTILE}

Second part
'''
readings = ["more_of_it", "less <b>"]
[[points]]
x = 0.5
y = 0.5
what = '''point {HOSTILE}'''
[values.exact]
what = '''exact {HOSTILE}'''
published = "6400"
exact = true
[values.near]
what = "near"
place = '''Section 9 {HOSTILE}'''
unit = "ms"
published = "0.90"
error = 0.005
error_from = "figure"
error_because = '''Rounded {HOSTILE}'''
[values.range]
what = "range"
unit = "um"
published = ["2", "4.5"]
kind = "between"
exact = true
[values.below]
what = "below"
unit = "m/s2"
published = ["-0.5", "-0.25"]
kind = "between"
exact = true
because = '''It is too high {HOSTILE}'''
[[values.below.history]]
key = "tolerance"
old = "0.75"
new = "0"
why = '''Widened before {HOSTILE}'''
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
[values.unknown]
what = "unknown"
published = "20"
[values.given]
what = "given"
published = "20"
class = "input"
because = "It is handed in."
[values.chosen]
what = "chosen"
published = "20"
class = "calibrated"
because = "By its factor."
[values.clock]
what = "clock"
published = "20"
class = "not_modelled"
because = "It would take a clock."
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
tolerance_because = "Noise."
[values.zero]
what = "zero"
published = "0.000"
error = 0.0005
error_from = "sampling"
error_because = "Noise."
[values.tiny]
what = "tiny"
unit = "s"
published = "2.5e-9"
[values.huge]
what = "huge"
unit = "bytes"
published = "3456000000"
[values.share]
what = "share"
unit = "%"
published = "40"
error = 0.5
error_from = "sampling"
error_because = "Noise."
"""
ALL_CODE = '''"""Some </code></pre><script> & code."""
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
'''
TABLE = """
title = "A table with much in a row"
place = "Table 3"
how = "Somehow."
readings = [{readings}]
[values.mean]
what = "{long}"
unit = "requests/s"
published = "123456.789"
[values.names]
what = "names"
kind = "order"
published = [{names}]
"""
NAMES = [f"configuration_number_{number}" for number in range(12)]
WIDE = TABLE.format(
    readings=", ".join(f'"reading_number_{n}"' for n in range(7)),
    long="a quantity with a long name, " * 8,
    names=", ".join(f'"{name}"' for name in NAMES),
)
WIDE_CODE = f"""
from sledsim.papers import Found

def simulate(*, quick: bool, setup) -> Found:
    names = {{name: place + 0.123456789 for place, name in enumerate({NAMES})}}
    return Found({{"mean": 123456.789, "names": names}})

# {"one very long line of code " * 12}
"""
EMPTY = (
    'title = "One"\nplace = "Page 4"\nhow = "So."\n[values.one]\nwhat = "one"\npublished = "1"\n'
)
EMPTY_CODE = (
    "from sledsim.papers import Found\n\ndef simulate(*, quick):\n    return Found({'one': 1})\n"
)
