"""Pictures of devices, loads and results, in one style.

Every function returns a figure of matplotlib, which notebooks show, and takes ``ax=`` (axes to draw
on), ``size=`` (``"column"`` or ``"page"``, the widths of a paper's columns, or ``"WxH"`` in inches)
and ``title=``. :func:`save` writes files that are fit to print. Importing this package does not
import matplotlib.
"""

from sledsim.plots.distributions import cdf
from sledsim.plots.files import save
from sledsim.plots.runs import comparison, run
from sledsim.plots.stacks import causes

__all__ = ["causes", "cdf", "comparison", "run", "save"]
