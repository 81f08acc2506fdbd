"""Tables of refusals: what is given, and the class, the place and the words of the error.

A row of ``LINES`` is ``("run --device g22", "'g22'", "g2")``: the line, then words of its message.
A row of ``CALLS`` is ``("ss.device('bad.toml')", ss.SpecError, "bad.toml:3 tips", "an integer")``:
the code, the class, the place as ``FILE:LINE KEY`` (each part may be left out), then words. The
code knows the names of ``CODE``, and both work in a folder that holds ``FILES``.
"""
