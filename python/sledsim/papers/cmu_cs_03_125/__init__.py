"""Schlosser, Schindler, Ailamaki, Ganger: Exposing and exploiting internal parallelism."""
