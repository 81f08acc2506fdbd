"""Files of traces, statistics of them, and traces split into parts."""
