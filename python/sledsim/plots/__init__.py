"""Pictures of devices, loads and results, in one style.

Every function returns a figure of matplotlib, which notebooks show, and takes ``ax=`` (axes to draw
on), ``size=`` (``"column"`` or ``"page"``, the widths of a paper's columns, or ``"WxH"`` in inches)
and ``title=``. :func:`save` writes files that are fit to print, :func:`animate` films. Importing
this package does not import matplotlib.
"""

from sledsim.plots.animations import animate
from sledsim.plots.cache_hits import hits
from sledsim.plots.crashes import crash
from sledsim.plots.distributions import cdf
from sledsim.plots.files import save
from sledsim.plots.layout_pictures import layout
from sledsim.plots.pair_differences import differences
from sledsim.plots.paths import path
from sledsim.plots.run_times import applications
from sledsim.plots.runs import comparison, run
from sledsim.plots.seek_times import seeks
from sledsim.plots.stacks import causes
from sledsim.plots.study_heat import heat
from sledsim.plots.study_pictures import study
from sledsim.plots.timelines import timeline
from sledsim.plots.traces import trace
from sledsim.plots.validations import validation

__all__ = [
    "animate",
    "applications",
    "causes",
    "cdf",
    "comparison",
    "crash",
    "differences",
    "heat",
    "hits",
    "layout",
    "path",
    "run",
    "save",
    "seeks",
    "study",
    "timeline",
    "trace",
    "validation",
]
