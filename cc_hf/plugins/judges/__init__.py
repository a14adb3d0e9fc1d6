"""Checks of judges: how often their verdicts are right on labelled translations."""
