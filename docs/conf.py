"""Sphinx configuration; `make docs` builds."""

from importlib.metadata import version as installed_version

project = "sledsim"
author = "The sledsim authors"
project_copyright = "2026, The sledsim authors"
release = version = installed_version("sledsim")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
autodoc_member_order = "bysource"
autodoc_typehints = "description"
napoleon_google_docstring = False

smartquotes = False  # "--set" in a text is no dash

html_theme = "furo"
html_title = f"sledsim {release}"
