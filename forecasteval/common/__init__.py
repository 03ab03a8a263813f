"""Modules that every wing needs; they import no other package of this project."""
