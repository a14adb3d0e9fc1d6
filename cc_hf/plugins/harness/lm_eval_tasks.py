"""Tasks of lm-eval (EleutherAI's lm-evaluation-harness) as YAML: which of several translations does
a language model find most probable? lm-eval itself is not needed to write them.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from cc_hf._version import __version__
from cc_hf.data.declaration import ConfigDeclaration
from cc_hf.data.loading import declaration
from cc_hf.evaluators.families.prompt import DEFAULT_PROMPT
from cc_hf.languages import language_name

__all__ = ["write_lm_eval_tasks"]

#: The file that all tasks of a folder include. It does not end in .yaml, so that it is no task.
_COMMON = "_common_yaml"
_VERSION = 1  # of the tasks; raised whenever a figure can change
#: The right translation is the last choice: lm-eval takes the first of several that are equally
#: probable, so that a tie is incorrect, as in `contrastive_translation_scoring`.
_CHOICES = "{{contrastive_translations + [correct_translation]}}"
_TARGET = "{{contrastive_translations | length}}"


def write_lm_eval_tasks(dataset: Path, output: Path, *, name: str) -> list[Path]:
    """Write a task for each configuration with contrastive translations, and one without the source
    where there is one.

    The choices of a task are all translations of an example. Its context is the prompt with which
    cc_hf scores by a language model (`DEFAULT_PROMPT`); in `NAME_target_only` it is empty, so that
    the translations are scored as texts. lm-eval's `acc` is then the accuracy of
    `contrastive_translation_scoring` with the score `logprob`.
    """
    declared = declaration(str(dataset.absolute()))
    tag = _identifier("cc_hf", name)
    common = {
        "dataset_path": str(dataset.absolute()),
        "output_type": "multiple_choice",
        "doc_to_choice": _CHOICES,
        "doc_to_target": _TARGET,
        "target_delimiter": "",
        "num_fewshot": 0,
        "metric_list": [
            {"metric": metric, "aggregation": "mean", "higher_is_better": True}
            for metric in ("acc", "acc_norm")
        ],
        "metadata": {"version": _VERSION, "cc_hf": __version__, "data": declared.revision[:7]},
    }
    (output / _COMMON).write_text(_yaml(common), encoding="utf-8", newline="\n")
    for config in declared.configs:
        if not config.has_choices:
            continue
        for split in config.splits:
            examples = list(declared.read({}, config.name, split))
            stem = _identifier(tag, config.name, *([split] if split != "test" else []))
            contexts = {f"{stem}_target_only": ""}
            if any(example.source for example in examples):
                contexts[stem] = _prompt(config)
            for task, context in contexts.items():
                fields = {
                    "include": _COMMON,
                    "task": task,
                    # the name of the dataset stands for all tasks on the split "test"
                    **({"tag": tag} if split == "test" else {}),
                    "dataset_name": config.name,
                    "test_split": split,
                    "doc_to_text": context,
                }
                (output / f"{task}.yaml").write_text(_yaml(fields), encoding="utf-8", newline="\n")
    return sorted(output.glob("*.yaml"))


def _prompt(config: ConfigDeclaration) -> str:
    """Return the prompt as a template of Jinja.

    Examples:
        >>> from cc_hf.test_sets.wino_x.reader import DECLARATION
        >>> _prompt(DECLARATION.config("mt_en_de.translations"))
        'English:\\n{{source}}\\nGerman:\\n'
    """
    names = {lang: language_name(lang) for lang in config.tgt_langs}
    tgt_name = next(iter(names.values())) if len(names) == 1 else f"{{{{{names}[tgt_lang]}}}}"
    src_name = language_name(config.src_lang)
    return DEFAULT_PROMPT.format(source="{{source}}", src_name=src_name, tgt_name=tgt_name)


def _identifier(*names: str) -> str:
    """Return names as one that the command line of lm-eval takes.

    Examples:
        >>> _identifier("cc_hf", "wino_x", "mt_en_de.translations")
        'cc_hf_wino_x_mt_en_de_translations'
    """
    return re.sub(r"\W+", "_", "_".join(names))


def _yaml(fields: dict[str, Any]) -> str:
    return str(yaml.safe_dump(fields, sort_keys=False, width=4096, allow_unicode=True))
