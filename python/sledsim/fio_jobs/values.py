"""The options of a job of fio as numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn

from sledsim.fio_jobs.job_file import Option, refuse_option

if TYPE_CHECKING:
    from sledsim.fio_jobs.job_file import Section

_SUFFIXES = "kmgtp"
_TIMES_US = {
    "us": 1,
    "usec": 1,
    "ms": 1000,
    "msec": 1000,
    "s": 10**6,
    "sec": 10**6,
    "m": 60 * 10**6,
    "h": 3600 * 10**6,
    "d": 86400 * 10**6,
}


@dataclass
class Job:
    """A job whose options are read, and what is to be said of them."""

    file: str
    section: Section
    cautions: list[str] = field(default_factory=list)

    def has(self, name: str) -> bool:
        """Tell whether an option is given."""
        return name in self.section.options

    def refuse(self, name: str, problem: str) -> NoReturn:
        """Raise the error for an option that is given."""
        refuse_option(self.file, self.section.options[name], problem)

    def refuse_missing(self, name: str, problem: str) -> NoReturn:
        """Raise the error for an option that may be missing."""
        if self.has(name):
            self.refuse(name, problem)
        here = Option(name, name, None, False, self.section.name, self.section.line)
        refuse_option(self.file, here, f"is missing: {problem}")

    def caution(self, text: str, name: str | None = None) -> None:
        """Add what a reader of the results must know."""
        option = self.section.options.get(name) if name is not None else None
        line = self.section.line if option is None else option.line
        section = self.section.name if option is None else option.section
        said = f"{self.file}: line {line}: [{section}] {text}"
        if said not in self.cautions:
            self.cautions.append(said)

    def text(self, name: str, default: str) -> str:
        """Return the value of an option as it is written."""
        option = self.section.options.get(name)
        if option is None:
            return default
        if not option.value:
            self.refuse(name, "must have a value")
        if option.blank and not option.value.isdigit():
            self.refuse(name, "must have no blank behind =, where fio loses a suffix")
        if "$" in option.value:
            self.refuse(name, "must have no $NAME, which fio replaces; write what it stands for")
        return option.value

    def one_of(self, name: str, default: str, known: tuple[str, ...]) -> str:
        """Return one of several words."""
        word = self.text(name, default)
        if word not in known:
            self.refuse(name, f"must be {', '.join(known[:-1])} or {known[-1]}")
        return word

    def flag(self, name: str) -> bool:
        """Return whether an option that is true or false is on: its name alone means so."""
        option = self.section.options.get(name)
        if option is None or option.value is None:
            return option is not None
        return self.one_of(name, "0", ("0", "1")) == "1"

    def whole(self, name: str, default: int, least: int, most: int = 2**31 - 1) -> int:
        """Return an integer, which may have a suffix."""
        number = self.number(name, self.text(name, str(default)))
        if not least <= number <= most:
            self.refuse(name, f"must be an integer from {least} to {most}")
        return number

    def number(self, name: str, text: str) -> int:
        """Return what a part of a value means: ``4k`` is 4,096, with ``kb_base=1000`` 4,000."""
        base = 1024
        if name != "kb_base" and self.one_of("kb_base", "1024", ("1000", "1024")) == "1000":
            base = 1000
        found = re.fullmatch(
            r"(0x[0-9a-f]{1,15}|[0-9]{1,18})([kmgtp]?)(i?)b?", text.strip().lower()
        )
        if found is None:
            self.refuse(name, "must be an integer, which may end in k, m, g, t or p")
        if found[3]:
            problem = "manuals and versions of fio differ on ki and KiB; write k, or the number"
            self.refuse(name, problem)
        power = _SUFFIXES.index(found[2]) + 1 if found[2] else 0
        factor: int = base**power
        return int(found[1], 16 if "x" in found[1] else 10) * factor

    def amount(self, name: str, whole: int | None) -> tuple[int, bool] | None:
        """Return bytes, and whether they were given as a percentage of ``whole``."""
        if not self.has(name):
            return None
        text = self.text(name, "")
        if not text.endswith("%"):
            return self.number(name, text), False
        if not re.fullmatch("[0-9]{1,3}%", text) or not 0 <= int(text[:-1]) <= 100:
            self.refuse(name, "must be a whole percentage from 0% to 100%: fio takes no others")
        if whole is None:
            self.refuse(name, "needs the device, of whose size it is a share")
        return whole * int(text[:-1]) // 100, True

    def time_us(self, name: str, unit: str) -> int:
        """Return a time in microseconds; without a unit it is in that of the option."""
        found = re.fullmatch(r"([0-9]{1,12})([a-z]*)", self.text(name, "0").lower())
        if found is None or (found[2] or unit) not in _TIMES_US:
            self.refuse(name, "must be an integer, which may end in us, ms, s, m, h or d")
        return int(found[1]) * _TIMES_US[found[2] or unit]

    def of_operation(self, name: str, default: str, write: bool) -> str:
        """Return the part of a value that is of reads or of writes; one alone is of all."""
        parts = self.text(name, default).split(",")
        if len(parts) > 3:
            self.refuse(name, "must have at most three parts: reads, writes, trims")
        return parts[min(int(write), len(parts) - 1)].strip() or default
