"""DiskSim 4.0 parameter files: values and their places.

>>> from sledsim import disksim
>>> tree = disksim.parse("disksim_bus BUS1 { Read block transfer time = 0.17010 }")
>>> tree.blocks["BUS1"].number("Read block transfer time")
0.1701

:func:`read` gives the tree of a file with everything it sources, :func:`drives` the storage devices
in it and the bus of each, :func:`read_seek_curve` the table of a seek file, and
:func:`import_device` makes a device file of one. Every value knows its file and line, and every
error names them.
"""

from sledsim.disksim.importer import Imported, import_device
from sledsim.disksim.parser import parse, read
from sledsim.disksim.seeks import SeekPoint, read_seek_curve
from sledsim.disksim.topology import Drive, drives
from sledsim.disksim.tree import (
    Block,
    Instantiation,
    Item,
    List,
    Place,
    Scalar,
    Tree,
    Wiring,
    error,
)

__all__ = [
    "Block",
    "Drive",
    "Imported",
    "Instantiation",
    "Item",
    "List",
    "Place",
    "Scalar",
    "SeekPoint",
    "Tree",
    "Wiring",
    "drives",
    "error",
    "import_device",
    "parse",
    "read",
    "read_seek_curve",
]
