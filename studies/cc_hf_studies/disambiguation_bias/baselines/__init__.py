"""The LSTM and the convolutional model of fairseq, baselines of the thesis (Table 3.5), as models
of transformers.
"""

from __future__ import annotations

from transformers import AutoConfig, AutoModelForSeq2SeqLM

from cc_hf_studies.disambiguation_bias.baselines.configuration import ConvS2SConfig, LSTMConfig
from cc_hf_studies.disambiguation_bias.baselines.convs2s import ConvS2SForConditionalGeneration
from cc_hf_studies.disambiguation_bias.baselines.lstm import LSTMForConditionalGeneration

__all__ = [
    "ConvS2SConfig",
    "ConvS2SForConditionalGeneration",
    "LSTMConfig",
    "LSTMForConditionalGeneration",
]

for _model in (ConvS2SForConditionalGeneration, LSTMForConditionalGeneration):
    _config = _model.config_class
    AutoConfig.register(_config.model_type, _config, exist_ok=True)
    AutoModelForSeq2SeqLM.register(_config, _model, exist_ok=True)
    # Saved models carry their files, so that the Hub can load them without cc_hf.
    _config.register_for_auto_class()
    _model.register_for_auto_class("AutoModelForSeq2SeqLM")
