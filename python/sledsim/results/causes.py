"""Causes of response times: the parts of a request's time, which add up to it."""

CAUSES = (
    "queue",
    "overhead",
    "seek",
    "rotation",
    "head_switch",
    "transfer",
    "bus",
    "retry",
    "other",
)
"""In the order of tables and pictures; the summary has each as ``NAME_ms``."""
