"""Critical errors such as a lost negation or another number, by contrastive conditioning."""

from cc_hf.plugins.omissions.critical_errors.metric import CriticalErrors, judge_rows

__all__ = ["CriticalErrors", "judge_rows"]
