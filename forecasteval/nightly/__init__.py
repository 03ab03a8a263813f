"""The nightly run over a folder: which files are scored, stored and ranked."""
