"""The rooms above, which values and results ask to show, draw or report them.

Nothing imports a floor above its own; the package says where these rooms are.
"""

from __future__ import annotations

TYPE_CHECKING = False  # that of typing, whose import takes as long as Python's own start
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from os import PathLike
    from types import ModuleType
    from typing import Unpack, overload

    from sledsim.explore import Page
    from sledsim.plots.frame import How
    from sledsim.plots.picture import Picture

rooms: dict[str, Callable[[], ModuleType]] = {}
"""What returns ``sledsim.show``, ``sledsim.plots`` and ``sledsim.explore``, by their names."""


def plots() -> ModuleType:
    """Return the room of pictures."""
    return rooms["plots"]()


def explore() -> ModuleType:
    """Return the room of pages that explain runs."""
    return rooms["explore"]()


def shown() -> ModuleType:
    """Return the room of text, notebooks and pages."""
    return rooms["show"]()


def saved(figure: Picture, path: str | PathLike[str] | None) -> Picture:
    """Return a picture, and write it to a file if there is a path."""
    if path is not None:
        plots().save(figure, path)
    return figure


class Shown:
    """A value or a result that is shown alike as text, in notebooks and on pages."""

    _kind: str = ""
    """What it is, by which ``show`` and ``plots`` know it; empty for a room above these."""

    def show(self) -> None:
        """Print it as the command of its kind does."""
        print(shown().as_text(self))

    def _repr_html_(self) -> str:
        return str(shown().as_html(self))


class Tabled:
    """A result that is written as a table: for LaTeX, for Markdown, and as CSV."""

    if TYPE_CHECKING:

        @overload
        def to_latex(
            self,
            path: None = None,
            *,
            columns: Sequence[str] | None = None,
            caption: str | None = None,
            label: str | None = None,
        ) -> str: ...
        @overload
        def to_latex(
            self,
            path: str | PathLike[str],
            *,
            columns: Sequence[str] | None = None,
            caption: str | None = None,
            label: str | None = None,
        ) -> None: ...

    def to_latex(
        self,
        path: str | PathLike[str] | None = None,
        *,
        columns: Sequence[str] | None = None,
        caption: str | None = None,
        label: str | None = None,
    ) -> str | None:
        r"""Return the table for LaTeX, with the packages ``booktabs`` and ``siunitx``.

        A mean with a 95 % interval is written with half the width of the latter, both to two digits
        of it: ``12.345(68)`` is 12.345 ± 0.068. Other numbers have the digits that ``show()``
        prints, and shares are in %.

        Parameters
        ----------
        path
            A file to write instead, ``.tex``.
        columns
            The columns, by their names in CSV, each with its interval; by default a few that fit
            a column of text.
        caption
            The caption; by default devices, load, number of requests, seed and version. It is
            text: characters that LaTeX takes for commands are escaped. ``""`` for none.
        label
            The name for ``\ref``; by default none.

        Raises
        ------
        SledsimError
            For an unknown column, a name that no label can have, more than 1,000 rows, another
            ending, or a file that cannot be written.
        """
        text: str | None = shown().write_table(
            self, ".tex", path, columns=columns, caption=caption, label=label
        )
        return text

    if TYPE_CHECKING:

        @overload
        def to_markdown(
            self,
            path: None = None,
            *,
            columns: Sequence[str] | None = None,
            caption: str | None = None,
        ) -> str: ...
        @overload
        def to_markdown(
            self,
            path: str | PathLike[str],
            *,
            columns: Sequence[str] | None = None,
            caption: str | None = None,
        ) -> None: ...

    def to_markdown(
        self,
        path: str | PathLike[str] | None = None,
        *,
        columns: Sequence[str] | None = None,
        caption: str | None = None,
    ) -> str | None:
        """Return the table of :meth:`to_latex` for Markdown, intervals as ``12.345 ± 0.068``.

        Parameters
        ----------
        path
            A file to write instead, ``.md``.
        columns
            As for :meth:`to_latex`.
        caption
            A paragraph before the table; by default as for :meth:`to_latex`, ``""`` for none.

        Raises
        ------
        SledsimError
            As for :meth:`to_latex`.
        """
        text: str | None = shown().write_table(self, ".md", path, columns=columns, caption=caption)
        return text

    if TYPE_CHECKING:

        @overload
        def to_csv(self, path: None = None, *, columns: Sequence[str] | None = None) -> str: ...
        @overload
        def to_csv(
            self, path: str | PathLike[str], *, columns: Sequence[str] | None = None
        ) -> None: ...

    def to_csv(
        self, path: str | PathLike[str] | None = None, *, columns: Sequence[str] | None = None
    ) -> str | None:
        """Return the table as CSV with all digits: a line of names, then one for each row.

        Gaps are empty. It has the means of a study and the kinds of time of a run:
        ``study.table.to_csv`` has a row for each run, ``run.rows.to_csv`` one for each request.

        Parameters
        ----------
        path
            A file to write instead, ``.csv``.
        columns
            The columns, each with the ends of its interval; by default all.

        Raises
        ------
        SledsimError
            For an unknown column, another ending, or a file that cannot be written.
        """
        text: str | None = shown().write_table(self, ".csv", path, columns=columns)
        return text


class Drawn:
    """A result that has a picture, which the function of ``plots`` of its kind draws."""

    _kind: str

    def plot(
        self,
        path: str | PathLike[str] | None = None,
        **how: Unpack[How],
    ) -> Picture:
        """Draw the result, as the function of :mod:`sledsim.plots` of its kind.

        Parameters
        ----------
        path
            A file to write, too: ``.png``, ``.svg`` or ``.pdf``.
        **how
            ``ax``, ``size``, ``title``, ``panel`` and ``notes``, as for :func:`sledsim.plots.cdf`.

        Raises
        ------
        SledsimError
            If it cannot be written, or without matplotlib.
        """
        return saved(self._draw(**how), path)

    def _draw(self, **how: Unpack[How]) -> Picture:
        figure: Picture = getattr(plots(), self._kind)(self, **how)
        return figure


class Explained:
    """A result that a page explains, instant by instant."""

    def explore(
        self,
        path: str | PathLike[str] | None = None,
        *,
        start_ms: float = 0.0,
        requests: int = 10_000,
        at_ms: float | None = None,
    ) -> Page:
        """Return a page that explains it; a notebook shows it.

        It shows where every sled and arm is at any instant, who waits, whom the scheduler takes and
        why, and where the time goes. A comparison of two runs shows both in step. A run that kept
        too little (no rows, or none of the parts of its device) is run again with the same seed,
        and the page says so.

        Parameters
        ----------
        path
            A file to write, too: a name that ends in ``.html``. It needs no other file.
        start_ms, requests
            Which requests are on the page: those that arrive from ``start_ms`` on, at most so many.
            Each takes about 200 bytes; on a sled of piecewise kinematics, six times as much.
        at_ms
            The instant that the page opens at; estimates are kept for the choices around it, as
            many as fit. By default ``start_ms``.

        Raises
        ------
        SledsimError
            For another ending, a file that cannot be written, a window without a request, a
            comparison of more than two runs, or a run that cannot be run again.
        """
        if path is not None:
            from sledsim._input_files import check_page  # few results are explored

            check_page(str(path))
        page: Page = explore().page(self, start_ms=start_ms, requests=requests, at_ms=at_ms)
        if path is not None:
            page.write(path)
        return page


class Paged:
    """A result that is written as a page."""

    def report(
        self,
        path: str | PathLike[str],
        *,
        title: str | None = None,
        further: Sequence[object] = (),
    ) -> None:
        """Write a page with the result, its pictures and numbers; the page on reports has more.

        Parameters
        ----------
        path
            The file: a name that ends in ``.html``. It needs no other file.
        title
            The title of the page; by default it names what was run on what.
        further
            What else stands on it: results, or pairs of a caption and a figure of matplotlib.

        Raises
        ------
        SledsimError
            For another ending, a missing library, or a file that cannot be written.
        """
        shown().write_page(self, path, title=title, further=further)
