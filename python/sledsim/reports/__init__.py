"""Reports: a result as one page that needs no other file."""
