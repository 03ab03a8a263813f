"""Numbers of rankings and comparisons, without files or pages."""
