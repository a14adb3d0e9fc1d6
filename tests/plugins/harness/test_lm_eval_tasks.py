"""Tasks of lm-eval, run by lm-eval with its dummy model: its accuracy is that of cc_hf on the same
scores.
"""

import warnings
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import pytest

from tests.helpers.usual import fails, known, run_command, write_jsonl

pytest.importorskip("lm_eval", reason="lm-eval (extra `harness`) is not installed")

import lm_eval
from lm_eval.api.model import LM
from lm_eval.config.task import TaskConfig
from lm_eval.models.dummy import DummyLM
from lm_eval.tasks import TaskManager

from cc_hf.data.loading import load_examples
from cc_hf.evaluators.families.prompt import DEFAULT_PROMPT, PromptTemplate
from cc_hf.metrics.contrastive_translation_scoring import ContrastiveTranslationScoring, judge_rows
from cc_hf.records import write_record
from cc_hf.schema import ContrastiveTranslationExample
from tests.helpers.samples import lay_out_samples

_WRONG = [["Die Fledermaus.", "Der Schlag."], ["Die Fledermaus ist alt."], ["Der {Hieb}."]]
_WRONG.append(["Der 'Stock'.", 'Das "Tier".', "Die\nMaus."])
ROWS = [
    {
        **{"source": f"The bat number {n} is old.", "correct_translation": f"Der Schläger {n}."},
        **{"contrastive_translations": wrong, "tgt_lang": "de", "id": str(n)},
    }
    for n, wrong in enumerate(_WRONG * 5)
]


class EvenLM(DummyLM):  # type: ignore[misc]
    """Finds all continuations equally probable."""

    def loglikelihood(self, requests: Any, disable_tqdm: bool = False) -> list[tuple[float, bool]]:
        return [(-1.0, False)] * len(requests)


def build(folder: Path, *words: str | Path) -> None:
    run_command("build", *words, "--output", "data", "--lm-eval", "tasks", cwd=folder)


def manager(folder: Path) -> TaskManager:
    return TaskManager(include_path=str(folder / "tasks"), include_defaults=False)


def evaluated(folder: Path, model: LM, tasks: list[str]) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of lm-eval itself
        results = lm_eval.simple_evaluate(
            model=model,
            tasks=tasks,
            task_manager=manager(folder),
            bootstrap_iters=0,
            log_samples=True,
        )
    return dict(known(results))


def asked(samples: list[dict[str, Any]]) -> list[list[tuple[str, str, float]]]:
    """Return context, translation and score of each choice, the right one first, as in cc_hf."""
    rows = []
    for sample in sorted(samples, key=lambda sample: int(sample["doc_id"])):
        arguments = sample["arguments"]
        arguments = list(arguments.values()) if isinstance(arguments, dict) else arguments
        rows.append([(*a, float(r[0][0])) for a, r in zip(arguments, sample["resps"], strict=True)])
    return [[row[-1], *row[:-1]] for row in rows]


@pytest.mark.parametrize("model", [DummyLM(), EvenLM()], ids=["dummy", "even"])
def test_accuracy_is_that_of_cc_hf_on_the_same_scores(model: LM, tmp_path: Path) -> None:
    build(tmp_path, write_jsonl(tmp_path / "own.jsonl", ROWS))
    examples = load_examples(str(tmp_path / "own.jsonl"))
    references = ContrastiveTranslationScoring.references(examples)
    template = PromptTemplate(DEFAULT_PROMPT)
    results = evaluated(tmp_path, model, ["cc_hf_own"])
    names = {"cc_hf_own_own", "cc_hf_own_own_target_only"}
    assert set(results["samples"]) == names
    for name in names:
        choices = asked(results["samples"][name])
        for example, row in zip(examples, choices, strict=True):
            prompt = template.fill(example.source, "en", "de")
            translations = [example.correct_translation, *example.contrastive_translations]
            context = "" if name.endswith("target_only") else prompt
            assert [choice[:2] for choice in row] == [(context, text) for text in translations]
        scores = np.array([score for row in choices for *_, score in row])
        judgements = judge_rows(references, scores, is_log=True)
        accuracy = sum(judgement.is_correct for judgement in judgements) / len(judgements)
        assert results["results"][name]["acc,none"] == accuracy
        assert (0 < accuracy < 1) or isinstance(model, EvenLM)
        assert (accuracy == 0) == isinstance(model, EvenLM)  # a tie is not correct


def test_each_field_is_one_that_lm_eval_knows(tmp_path: Path) -> None:
    build(tmp_path, write_jsonl(tmp_path / "own.jsonl", ROWS))
    for name, entry in manager(tmp_path).task_index.items():
        if entry.yaml_path is None:  # the tag
            continue
        fields = {key: value for key, value in (entry.cfg or {}).items() if key != "include"}
        assert TaskConfig(**fields).task == name
        fails(TypeError, "unexpected keyword argument 'scorer'", TaskConfig, **fields, scorer="acc")


def test_there_is_a_task_without_the_source_if_there_is_one(shared: Path, tmp_path: Path) -> None:
    for config in ("mt_en_de.translations", "lm_en_de"):
        data = lay_out_samples("wino_x", config, tmp_path / "samples", shared)
    build(tmp_path, "wino_x", "mt_en_de", "mt_en_de.translations", "lm_en_de", "--data-dir", data)
    assert set(manager(tmp_path).all_subtasks) == {
        "cc_hf_wino_x_mt_en_de_translations",
        "cc_hf_wino_x_mt_en_de_translations_target_only",
        "cc_hf_wino_x_lm_en_de_target_only",
    }
    assert manager(tmp_path).all_tags == ["cc_hf_wino_x"]


def write_bats(folder: Path, split: str, *langs: str) -> None:
    texts: Any = "A bat.", "Right.", ("Wrong.",), "x", {"more": ""}
    pairs = [(str(n), "en", lang) for n, lang in enumerate(langs)]
    rows = [write_record(ContrastiveTranslationExample(*pair, *texts)) for pair in pairs]
    (folder / "two/set").mkdir(parents=True, exist_ok=True)
    datasets.Dataset.from_list(rows).to_parquet(folder / f"two/set/{split}-0.parquet")


def test_other_splits_have_tasks_of_their_own(tmp_path: Path) -> None:
    for split in ("dev", "test"):
        write_bats(tmp_path, split, "de")
    build(tmp_path, "two", "set")
    index = manager(tmp_path).task_index
    assert {"cc_hf_two_set_dev", "cc_hf_two_set_dev_target_only"} <= set(index)
    assert index["cc_hf_two"].tags == {"cc_hf_two_set", "cc_hf_two_set_target_only"}


def test_the_prompt_names_the_language_of_each_row(tmp_path: Path) -> None:
    write_bats(tmp_path, "test", "de", "fr", "de")
    build(tmp_path, "two", "set")
    samples = evaluated(tmp_path, EvenLM(), ["cc_hf_two"])["samples"]["cc_hf_two_set"]
    contexts = [row[0][0].splitlines()[-1] for row in asked(samples)]
    assert contexts == ["German:", "French:", "German:"]


def test_tasks_need_contrastive_translations_and_a_new_folder(tmp_path: Path) -> None:
    def refused(*words: str) -> str:
        shown = run_command("build", *words, "-o", "data", cwd=tmp_path, status=2)
        return " ".join(shown.stderr.split())

    assert "expected contrastive translations, got simplegen en-de" in refused(
        "simplegen", "--lm-eval", "tasks"
    )
    assert "such as mt_en_de.translations" in refused("wino_x", "--lm-eval", "tasks")
    write_jsonl(tmp_path / "own.jsonl", ROWS)
    assert "is not an empty folder" in refused("own.jsonl", "--lm-eval", ".")
    assert [path.name for path in tmp_path.iterdir()] == ["own.jsonl"]
