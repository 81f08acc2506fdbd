"""Arrays: the risk of a second failure during a rebuild."""

from __future__ import annotations

import math

from sledsim._arguments import real, refuse, whole

_S_PER_HOUR = 3600


def rebuild_risk(rebuild_s: float, mttf_hours: float, survivors: int) -> float:
    """Return the probability that a survivor fails before a rebuild is complete.

    Failures are independent and come at a constant rate, so that the time to the first of them is
    exponential: ``1 - exp(-survivors * rebuild_s / mttf)``. What failed first may have been a sign
    of a bad batch, a hot rack or a worn-out lot; then the risk is higher.

    Parameters
    ----------
    rebuild_s
        From the failure to the end of the rebuild, in seconds.
    mttf_hours
        Mean time to failure of one device, in hours.
    survivors
        Devices that must not fail meanwhile: four of a RAID 5 of five, one of a pair of mirrors. A
        RAID 6 survives a second failure: those left after it, with the time of the rebuild then.

    Returns
    -------
    float
        A probability.

    Raises
    ------
    SledsimError
        For a negative or infinite time, an MTTF that is not positive, or no survivors.
    """
    rebuild_s, mttf_hours = real("rebuild_s", rebuild_s, 0), real("mttf_hours", mttf_hours, 0)
    if mttf_hours == 0:
        refuse("mttf_hours", mttf_hours, "a number above 0")
    survivors = whole("survivors", survivors, 1)
    return -math.expm1(-survivors * rebuild_s / (mttf_hours * _S_PER_HOUR))
