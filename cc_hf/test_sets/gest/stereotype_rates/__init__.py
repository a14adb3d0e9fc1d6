"""Which gender translations give a person whose gender the source leaves open, by stereotype."""

from cc_hf.test_sets.gest.stereotype_rates.metric import StereotypeRates
from cc_hf.test_sets.gest.stereotype_rates.slavic import read_gender

__all__ = ["StereotypeRates", "read_gender"]
