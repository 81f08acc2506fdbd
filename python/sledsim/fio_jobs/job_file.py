"""The text of a fio job file: sections, options and their lines (``man fio``, JOB FILE FORMAT)."""

from __future__ import annotations

import re
from typing import NamedTuple, NoReturn

from sledsim import _input_files
from sledsim._arguments import placed
from sledsim._core import SledsimError, SpecError

_ALIASES = {
    "readwrite": "rw",
    "blocksize": "bs",
    "blocksize_range": "bsrange",
    "blockalign": "ba",
    "blocksize_unaligned": "bs_unaligned",
    "io_limit": "io_size",
    "fileoffset": "offset",
    "iodepth_batch_submit": "iodepth_batch",
    "iodepth_batch_complete": "iodepth_batch_complete_min",
    "nr_files": "nrfiles",
    "timeout": "runtime",
    "wait_for_previous": "stonewall",
}


class Option(NamedTuple):
    """An option as it is written."""

    name: str
    """The first of its names."""
    written: str
    value: str | None
    """``None`` for a name alone."""
    blank: bool
    """Whether a blank stands behind the equals sign."""
    section: str
    """The section that it stands in, which may be ``global``."""
    line: int


class Section(NamedTuple):
    """A job: its own options, and those of the ``[global]`` sections before it."""

    name: str
    line: int
    options: dict[str, Option]


def refuse_option(file: str, option: Option, problem: str) -> NoReturn:
    """Raise the error for an option: file, line, section, what is written and what is allowed."""
    said = option.written if option.value is None else f"{option.written}={option.value}"
    raise placed(
        SpecError,
        f"{file}: line {option.line}: [{option.section}] {said[:80]}: {problem}",
        file=file,
        line=option.line,
        key=option.written,
    )


def sections(file: str) -> list[Section]:
    """Read the jobs of a file.

    Raises
    ------
    SledsimError
        For a file that cannot be read, or a line that is neither a section nor an option.
    """
    try:
        text = _input_files.content(file).decode()
    except OSError as error:
        raise placed(SledsimError, f"{file}: {error.strerror}", file=file) from None
    except UnicodeDecodeError:
        raise placed(SpecError, f"{file}: must be text in UTF-8", file=file) from None
    if re.match(r"fio version \d+ iolog", text):
        problem = "is a log of fio, which is a trace; give it as one, as with --trace"
        raise placed(SpecError, f"{file}: {problem}", file=file)
    common: dict[str, Option] = {}
    jobs: list[Section] = []
    current: Section | None = None
    for number, whole in enumerate(text.splitlines(), 1):
        line = re.split("[;#]", whole, maxsplit=1)[0].strip()  # as fio does, in values too
        if not line:
            continue
        if line.startswith("["):
            name = line[1:-1].strip()
            if not line.endswith("]") or not name:
                _refuse_line(file, number, line, "must be [NAME], the beginning of a job")
            current = Section(name, number, common if name == "global" else dict(common))
            if name != "global":
                jobs.append(current)
            continue
        if current is None:
            _refuse_line(file, number, line, "must stand in a section, such as [global]")
        written, equals, behind = line.partition("=")
        written, value = written.strip(), behind.strip()
        if not re.fullmatch(r"[a-z]\w*(-\w+)?", written):
            _refuse_line(file, number, line, "must be an option, NAME=VALUE, or a section, [NAME]")
        name = _ALIASES.get(written, written)
        option = Option(
            name, written, value if equals else None, behind != value, current.name, number
        )
        current.options.pop(name, None)  # the last one counts, and where it stands
        current.options[name] = option
    if not jobs:
        raise placed(SpecError, f"{file}: has no job; must have a section, [NAME]", file=file)
    return jobs


def _refuse_line(file: str, number: int, line: str, must: str) -> NoReturn:
    raise placed(SpecError, f"{file}: line {number}: {line[:80]}: {must}", file=file, line=number)
