"""Draw docs/drawings/serving.svg: the way of a request through the emulator.

python scripts/drawings/serving.py
"""

from pathlib import Path
from xml.sax.saxutils import escape

TARGET = Path(__file__).parents[2] / "docs" / "drawings" / "serving.svg"
WIDTH, HEIGHT = 760, 430
NOTES = (
    "Each request has the completion time that it has in a simulation of the same arrivals.",
    "Reality adds the lateness: how much later than that time the answer is sent.",
)
TIMELINE = ("timeline: when", "the model of the device,", "by the real clock")
STORE = ("store: what", "the bytes, in memory", "or in a backing file")
INK, GREY = "#1a1a1a", "#595959"
BLUE, GREEN, ORANGE = "#0072b2", "#009e73", "#b36b00"
PALE = {INK: "#ececec", BLUE: "#d6ecf8", GREEN: "#cfeee3", ORANGE: "#fbe8bf"}


def text(x: float, y: float, *lines: str, size: int = 14, colour: str = INK, **more: str) -> str:
    """Write lines of text at x; y is the base of the first."""
    style = "".join(f' {key.replace("_", "-")}="{value}"' for key, value in more.items())
    return "".join(
        f'<text x="{x}" y="{y + i * (size + 4)}" font-size="{size}" fill="{colour}"'
        f"{style}>{escape(line)}</text>\n"
        for i, line in enumerate(lines)
    )


def box(x: float, y: float, w: float, h: float, colour: str, title: str, *lines: str) -> str:
    """Draw a box with a title and lines in its middle."""
    top = y + h / 2 - 9 * len(lines) + 5
    return (
        f'<rect x="{x}" y="{y}" width="{w}" height="{h}" rx="6" fill="{PALE[colour]}"'
        f' stroke="{colour}" stroke-width="1.5"/>\n'
        + text(x + w / 2, top, title, text_anchor="middle", font_weight="bold")
        + text(x + w / 2, top + 19, *lines, size=13, text_anchor="middle")
    )


def group(x: float, y: float, w: float, h: float, title: str) -> str:
    """Draw a box around others, with its title at the upper left."""
    return (
        f'<rect x="{x}" y="{y}" width="{w}" height="{h}" rx="8" fill="#f7f7f7" stroke="{GREY}"/>\n'
        + text(x + 12, y + 24, title, font_weight="bold")
    )


def arrow(path: str, colour: str) -> str:
    """Draw a line with a head at its end."""
    return (
        f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="2"'
        f' marker-end="url(#h{colour[1:]})"/>\n'
    )


def heads(*colours: str) -> str:
    """Define the heads of the arrows."""
    return "".join(
        f'<marker id="h{colour[1:]}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="10"'
        ' markerHeight="10" markerUnits="userSpaceOnUse" orient="auto">'
        f'<path d="M0 0L10 5L0 10z" fill="{colour}"/></marker>'
        for colour in colours
    )


def beginning() -> str:
    """Begin the file: the ground, and the border of the server."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}"'
        f' height="{HEIGHT}" role="img" font-family="Helvetica, Arial, sans-serif">\n'
        "<title>The way of a request through the emulator</title>\n"
        f"<defs>{heads(BLUE, GREEN, ORANGE)}</defs>\n"
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>\n'
        f'<rect x="152" y="16" width="592" height="352" rx="8" fill="none" stroke="{GREY}"'
        ' stroke-dasharray="5 4"/>\n'
    )


def picture() -> str:
    """Return the whole file."""
    parts = [
        beginning(),
        text(166, 38, "sledsim serve", colour=GREY, font_weight="bold"),
        group(168, 52, 132, 300, "front end"),
        group(352, 52, 378, 300, "export: a device that is served"),
        # The boxes.
        box(14, 190, 104, 84, INK, "program", "fio, QEMU,", "a file system"),
        box(182, 92, 104, 70, INK, "NBD", "a Unix socket", "or TCP"),
        box(182, 178, 104, 70, INK, "FUSE", "a file"),
        box(182, 264, 104, 70, INK, "RPC", "batches"),
        box(410, 92, 200, 76, BLUE, *TIMELINE),
        box(410, 262, 200, 76, GREEN, *STORE),
        box(628, 203, 88, 30, ORANGE, "answer"),
        # A request, and its answer.
        arrow("M118 216H166", BLUE),
        arrow("M300 198H380V130H408", BLUE),
        arrow("M380 198V300H408", BLUE),
        text(303, 190, "request", size=12, colour=BLUE),
        arrow("M610 130H672V201", ORANGE),
        arrow("M610 300H672V235", GREEN),
        text(616, 122, "completion time", size=13, colour=ORANGE),
        text(626, 318, "data", size=13, colour=GREEN),
        arrow("M628 218H302", ORANGE),
        text(396, 236, "sent at the completion time", size=13, colour=ORANGE),
        arrow("M168 248H120", ORANGE),
        text(14, 396, *NOTES, size=13),
    ]
    return "".join(parts) + "</svg>\n"


if __name__ == "__main__":
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_text(picture(), encoding="utf-8")
