"""Run the command line as ``python -m sledsim``."""

import sys

from sledsim.cli import main

sys.exit(main())
