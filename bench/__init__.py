"""Measured claims. Each file prints a table: `python -m bench.NAME`, or `script/bench NAME`."""
