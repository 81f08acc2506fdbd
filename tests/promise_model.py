"""What a host may find after a power failure, by what a standard has promised it: a plain model.

It knows no device and no server: a block holds one of the contents that were written since the last
one that was promised to survive, and that one.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

BLOCK = 512
ZERO = bytes(BLOCK)


@dataclass
class Step:
    """A command of a host, and what its success means by the standard of the protocol."""

    name: str
    run: Callable[[], bytes | None]
    """Executes it; returns what it reads."""
    writes: dict[int, bytes] = field(default_factory=dict)
    """The contents of blocks, by their index, from now on."""
    hints: Collection[int] = ()
    """Blocks of which nothing is promised any more, until they are written."""
    keeps: Collection[int] = ()
    """Blocks whose contents survive a power failure."""
    reads: Collection[int] = ()
    """Blocks that it returns."""


class BrokenError(AssertionError):
    """A promise was broken."""


class Host:
    """Draws commands for the blocks of a device, and remembers what was promised of these."""

    def __init__(self, seed: int, blocks: int) -> None:
        self.rng = random.Random(seed)
        self.blocks = blocks
        self._contents = [[ZERO] for _ in range(blocks)]
        """By block: what was promised to survive last, and all that was written since."""
        self._is_hinted = [False] * blocks

    # Drawing

    def some(self, most: int = 12) -> range:
        """Draw blocks that lie together."""
        count = self.rng.randint(1, most)
        first = self.rng.randrange(self.blocks - count + 1)
        return range(first, first + count)

    def chance(self, share: float = 0.5) -> bool:
        return self.rng.random() < share

    def fresh(self, where: Collection[int]) -> dict[int, bytes]:
        """Draw new contents for blocks."""
        return {block: self.rng.randbytes(BLOCK) for block in where}

    def now(self, block: int) -> bytes | None:
        """Return what a read must return; None if anything may come."""
        return None if self._is_hinted[block] else self._contents[block][-1]

    # What happens

    def begins(self, step: Step) -> None:
        """Take note that from now on the media may hold what a command writes."""
        for block, content in step.writes.items():
            self._contents[block].append(content)
            self._is_hinted[block] = False
        for block in step.hints:
            self._contents[block].append(ZERO)
            self._is_hinted[block] = True

    def ends(self, step: Step, data: bytes | None) -> None:
        """Take note of the success of a command; check what it has read."""
        for at, block in enumerate(step.reads):
            assert data is not None
            content, wanted = data[at * BLOCK : (at + 1) * BLOCK], self.now(block)
            if wanted is not None and content != wanted:
                raise BrokenError(f"{step.name}: block {block} reads as what it does not hold")
        for block in step.keeps:
            if not self._is_hinted[block]:
                del self._contents[block][:-1]

    def power_fails(self, read: Callable[[range], bytes | None]) -> list[int]:
        """Check all blocks after a power failure; return those that are torn.

        ``read`` reads blocks, and returns None if one of them cannot be read.
        """
        torn, everything = [], read(range(self.blocks))
        for block, contents in enumerate(self._contents):
            if everything is None:
                found = read(range(block, block + 1))
            else:
                found = everything[block * BLOCK : (block + 1) * BLOCK]
            if found not in contents:
                if len(contents) == 1:
                    raise BrokenError(
                        f"block {block}: promised, and {'gone' if found else 'unreadable'}"
                    )
                if found is not None and not is_mixture(found, contents):
                    raise BrokenError(f"block {block}: holds what was never written to it")
                torn.append(block)
            if not self._is_hinted[block]:
                self._contents[block] = [found or ZERO]
        return torn


def is_mixture(found: bytes, contents: list[bytes]) -> bool:
    """Whether each bit is that of one of the contents, as in a block that was being written."""
    one, *others = (int.from_bytes(content, "big") for content in contents)
    free = 0
    for other in others:
        free |= one ^ other
    return not (int.from_bytes(found, "big") ^ one) & ~free
