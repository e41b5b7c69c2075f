"""Louver: which places crossed the line, on data about people, at the least privacy loss."""

__version__ = "0.1.0"
