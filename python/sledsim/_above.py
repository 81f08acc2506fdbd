"""The rooms above, which values and results ask to show, draw or report them.

Nothing imports a floor above its own; the package says where these rooms are.
"""

from __future__ import annotations

TYPE_CHECKING = False  # that of typing, whose import takes as long as Python's own start
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

rooms: dict[str, Callable[[], ModuleType]] = {}
"""What returns ``sledsim.show`` and ``sledsim.plots``, by their names."""


def plots() -> ModuleType:
    """Return the room of pictures."""
    return rooms["plots"]()


def shown() -> ModuleType:
    """Return the room of text, notebooks and pages."""
    return rooms["show"]()


class Shown:
    """A value or a result that is shown alike as text, in notebooks and on pages."""

    def show(self) -> None:
        """Print it as the command of its kind does."""
        print(shown().as_text(self))

    def _repr_html_(self) -> str:
        return str(shown().as_html(self))
