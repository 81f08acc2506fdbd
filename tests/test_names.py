"""Every name that the core lists is on the page for users."""

from __future__ import annotations

from pathlib import Path

import pytest
import sledsim as ss
from sledsim import _core

DOCS = Path(__file__).parents[1] / "docs"
PAGES = {
    "background_tasks": "parallel.md",
    "device_kinds": "devices.md arrays.md hybrids.md",
    "layouts": "layouts.md",
    "policies": "caches.md",
    "schedulers": "schedulers.md",
    "trace_formats": "workloads.md",
    "workload_presets": "workloads.md",
    "workloads": "workloads.md",
}


@pytest.mark.parametrize("of", PAGES)
def test_every_name_is_on_its_page(of: str) -> None:
    pages = " ".join((DOCS / page).read_text(encoding="utf-8") for page in PAGES[of].split())
    names = _core.names(of)  # type: ignore[arg-type]  # (keys of a dict are any strings)
    assert names
    assert [name for name in names if f"`{name}`" not in pages and f'"{name}"' not in pages] == []


def test_an_unknown_list_is_refused() -> None:
    with pytest.raises(ss.SledsimError, match="no list of planets"):
        _core.names("planets")  # type: ignore[arg-type]
