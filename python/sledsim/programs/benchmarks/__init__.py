"""Programs on emulated devices in real time: run times and their I/O stall."""
