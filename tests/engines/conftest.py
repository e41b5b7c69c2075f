"""Engines that take a while to start: one of each for all tests of a process."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from tests.ledger.server import Server


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.remove()


@pytest.fixture(scope="session")
def database(server: Server) -> str:
    return server.new_database()


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """Local mode, one core, quiet, and in a time zone that must not matter."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about versions of other libraries
        from pyspark.sql import SparkSession

        settings = {
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.sql.shuffle.partitions": "1",
            "spark.sql.adaptive.enabled": "false",
            "spark.sql.codegen.wholeStage": "false",  # compiling takes longer than these few rows
            "spark.sql.session.timeZone": "America/New_York",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.log.level": "OFF",
        }
        builder = SparkSession.builder.master("local[1]")
        for name, value in settings.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
    logging.getLogger("py4j").setLevel(logging.ERROR)
    yield session
    session.stop()


@pytest.fixture
def ibis_backend() -> Iterator[Any]:
    import ibis

    backend = ibis.duckdb.connect()
    yield backend
    backend.disconnect()
