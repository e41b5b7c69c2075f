"""A broker that the tests of one process share; those that kill one start their own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.sense.feeds.broker import Mosquitto


@pytest.fixture(scope="session")
def mosquitto() -> Iterator[Mosquitto]:
    broker = Mosquitto()
    yield broker
    broker.remove()
