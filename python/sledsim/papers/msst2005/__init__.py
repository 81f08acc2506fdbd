"""MSST 2005: Using MEMS-based Storage to Boost Disk Performance."""
