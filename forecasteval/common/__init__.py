"""Modules that every benchmark needs; they import no other package of this project."""
