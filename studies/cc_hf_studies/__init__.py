"""The studies of papers, over what cc_hf measures: one folder for each.

cc_hf finds them by the entry points in pyproject.toml, and imports modules when they are used.
"""

from __future__ import annotations

from cc_hf.registry import Study

__all__ = [
    "COVERAGE_ERRORS",
    "DISAMBIGUATION_BIAS",
    "DISTILLATION",
    "LANGUAGE_MODELS",
    "LEXICAL_SHORTCUTS",
    "METRIC_BIAS",
    "MT_GENEVAL",
    "SPEED",
    "WINO_X",
]

COVERAGE_ERRORS = Study(
    "cc_hf_studies.coverage_errors.commands:app",
    ("vamvas-sennrich-2022",),
    "Omissions and additions by people and MQM, and data with known ones.",
)
DISAMBIGUATION_BIAS = Study(
    "cc_hf_studies.disambiguation_bias.commands:app",
    ("emelin-2020", "Emelin 2023, chapter 3"),
    "Which words pull a homograph towards a wrong sense, and attacks with them.",
    side_by_side="cc_hf_studies.disambiguation_bias.side_by_side:cells",
    sentences="cc_hf_studies.disambiguation_bias.attacks.asked:sentences_of",
)
DISTILLATION = Study(
    "cc_hf_studies.distillation.commands:app",
    ("vamvas-sennrich-2021",),
    "What distillation does to rare senses and genders, in text and in scores.",
)
LANGUAGE_MODELS = Study(
    "cc_hf_studies.language_models.commands:app",
    ("Emelin 2023, sections 3.5 and 4.6",),
    "Printed figures of language models that are asked in words.",
)
LEXICAL_SHORTCUTS = Study(
    "cc_hf_studies.lexical_shortcuts.commands:app",
    ("Emelin 2023, chapter 5",),
    "What each layer of a model still tells of its words.",
)
METRIC_BIAS = Study(
    "cc_hf_studies.metric_bias.commands:app",
    ("Zaranis et al. 2025", "Manna et al. 2025"),
    "Which gender a judge prefers by itself: an evaluator, or any metric.",
)
MT_GENEVAL = Study(
    "cc_hf_studies.mt_geneval.commands:app",
    ("currey-2022",),
    "Quality gaps of single sentences, gendered words, ratings by people.",
)
SPEED = Study(
    "cc_hf_studies.speed.commands:app",
    ("renduchintala-2021",),
    "Decoding time against BLEU and gender accuracy.",
)
WINO_X = Study(
    "cc_hf_studies.wino_x.commands:app",
    ("emelin-sennrich-2021", "Emelin 2023, chapter 4"),
    "Biases of referents, trigger importance, training on and making of Wino-X.",
    side_by_side="cc_hf_studies.wino_x.side_by_side:cells",
)
