"""What is shown of each result: one description, for the command line, notebooks and reports.

- ``loads``, ``runs``, ``comparisons``, ``validations``, ``crashes``, ``applications``,
  ``crash_apps``: the facts and tables of each result, with digits and units.
- ``text_tables``: tables as text.
- ``notebook``: tables as HTML.
"""
