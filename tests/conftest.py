"""What holds for all tests: properties are searched without a clock, for a busy machine is no fault of the code.

The default run tries the same examples each time, so that it says something about a change; `--hypothesis-profile
searching` looks for new ones.
"""

from __future__ import annotations

from hypothesis import HealthCheck, settings

UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("searching", UNHURRIED)
settings.register_profile("unhurried", UNHURRIED, derandomize=True)
settings.load_profile("unhurried")
