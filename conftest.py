"""Give all tests, those of the studies and of docstrings too, the same fixtures and hooks."""

pytest_plugins = ["tests.fixtures"]
