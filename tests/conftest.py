"""Settings for every test."""

import hypothesis

from tests.often import often

# Examples are the same in each run, so that a red run is a change in the code and not in the dice.
hypothesis.settings.register_profile(
    "louver", derandomize=True, deadline=None, database=None, max_examples=often(50, 100)
)
hypothesis.settings.load_profile("louver")
