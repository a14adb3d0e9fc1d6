"""What a translation leaves out or adds, by contrastive conditioning."""

from cc_hf.plugins.omissions.coverage.metric import SPANS, Coverage, judge_rows

__all__ = ["SPANS", "Coverage", "judge_rows"]
