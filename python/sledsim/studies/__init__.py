"""Studies: many simulations, on one core or a cluster, that can be interrupted and resumed.

In reading order:

* ``design``: the points of a study.
* ``points``: from the keys of a point to what is simulated.
* ``experiments``: what is run at each point, and the columns of its result.
* ``columns``: the columns of a summary.
* ``worker``: the work on a batch of points.
* ``store``: the folder with the results.
* ``runner``: runs what is missing on the workers of an executor.
* ``study``: the result.
* ``study_files``: studies as TOML files.
"""

from sledsim.studies.runner import sweep
from sledsim.studies.study import Study, StudyRows

__all__ = ["Study", "StudyRows", "sweep"]
