"""Compressed content, for traces in tests."""

from __future__ import annotations

import pyarrow as pa


def zstd(content: bytes) -> bytes:
    """Compress with Zstandard."""
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as packed:
        packed.write(content)
    return bytes(sink.getvalue())
