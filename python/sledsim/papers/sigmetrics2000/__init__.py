"""Griffin, Schlosser, Ganger, Nagle: Modeling and Performance of MEMS-Based Storage Devices."""
