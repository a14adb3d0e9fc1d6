"""Which gender the words of a translation give to the persons of a dialogue."""

from cc_hf.test_sets.gender_res.gender_form.metric import GenderForm, judge_rows, reading_of
from cc_hf.test_sets.gender_res.gender_form.spanish import read_persons

__all__ = ["GenderForm", "judge_rows", "read_persons", "reading_of"]
