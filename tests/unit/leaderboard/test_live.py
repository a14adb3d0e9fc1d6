from __future__ import annotations

import gzip
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cc_hf.data.loading import declaration
from cc_hf.errors import CCError, InputError
from cc_hf.leaderboard.file_tab import _SAMPLE, _SAMPLE_CHOICE
from cc_hf.leaderboard.live import (
    MAX_CUES,
    MAX_FILE_LINES,
    MAX_LINE,
    MAX_MEAN_CHARACTERS,
    MAX_TEXT_CHARACTERS,
    MAX_UPLOAD,
    FileJudge,
    SentenceJudge,
    _is_available,
    _sentence_threads,
    available_data,
    config_metrics,
)
from cc_hf.text.gender.romance import predictor
from tests.helpers.cases import cases_by_message, cases_by_words
from tests.helpers.letter_evaluator import SpelledEvaluator
from tests.helpers.metrics import evaluate_dataset

SOURCE = "The cook saw the cook."


@pytest.fixture
def judge() -> SentenceJudge:
    return SentenceJudge(SpelledEvaluator(max_tokens=200))


def test_cues_are_inserted_at_the_chosen_occurrence(judge: SentenceJudge) -> None:
    found = judge.judge(SOURCE, "Die Köchin sah den Koch.", "cook", occurrence=2, gender="female")
    assert (found.correct_source, found.incorrect_source) == (
        "The cook saw the [female] cook.",
        "The cook saw the [male] cook.",
    )
    assert (
        judge.judge(SOURCE, "x", "cook", occurrence=1, gender="male").correct_source
        == "The [male] cook saw the cook."
    )
    own = judge.judge(
        "The bat was old.",
        "Der Schläger war alt.",
        " bat ",
        correct_cues=" baseball | cricket ",
        incorrect_cues="flying|{focus} (the animal)",
    )
    assert own.correct_source in ("The baseball bat was old.", "The cricket bat was old.")
    assert own.incorrect_source in ("The flying bat was old.", "The bat (the animal) was old.")
    assert (
        judge.judge(
            "It fell.",
            "x",
            "It",
            correct_cues="The key",
            incorrect_cues="The lamp",
            placement="replace",
        ).correct_source
        == "The key fell."
    )


@cases_by_message(
    ("changed", "message"),
    [
        ({"source": " "}, "source: expected a text"),
        ({"translation": ""}, "translation: expected a text"),
        ({"focus": ""}, "word: expected a text"),
        ({"translation": "x" * (MAX_TEXT_CHARACTERS + 1)}, "at most 2000 characters, got 2001"),
        ({"focus": "coo"}, "'coo' does not occur as a whole word"),
        ({"occurrence": None}, "'cook' occurs 2 times .* say which occurrence, 1 to 2"),
        ({"occurrence": 3}, "expected 1 to 2"),
        ({"occurrence": 0}, "expected 1 to 2"),
        ({"gender": "x"}, "gold: expected male or female"),
        ({"gender": ""}, "correct cues: expected at least one cue"),
        (
            {"gender": "", "correct_cues": "one", "incorrect_cues": " | "},
            "incorrect cues: expected at least one cue",
        ),
        (
            {"gender": "", "correct_cues": "x" * (MAX_TEXT_CHARACTERS + 1)},
            "correct cues: expected at most 2000 characters, got 2001",
        ),
        (
            {
                "gender": "",
                "correct_cues": "one",
                "incorrect_cues": "|".join(map(str, range(MAX_CUES + 1))),
            },
            "incorrect cues: expected at least one cue and at most 20, .* got 21",
        ),
        (
            {"gender": "", "correct_cues": "one", "incorrect_cues": "one"},
            "same cue is both correct and incorrect",
        ),
        (
            {"gender": "", "correct_cues": "one", "incorrect_cues": "two", "placement": "below"},
            "placement: expected one of",
        ),
        ({"translation": "lone \ud800"}, "lone surrogate"),
    ],
)
def test_bad_sentence_input_is_refused(
    judge: SentenceJudge, changed: dict[str, Any], message: str
) -> None:
    given = {
        "source": SOURCE,
        "translation": "Ja.",
        "focus": "cook",
        "occurrence": 1,
        "gender": "female",
        **changed,
    }
    with pytest.raises(InputError, match=message):
        judge.judge(**given)


def test_a_language_pair_without_evaluator_is_refused() -> None:
    with pytest.raises(InputError, match="none ships with the package for en-fr"):
        SentenceJudge(tgt_lang="fr")
    assert SentenceJudge().name == "cc-tiny-en-de"


def test_concurrent_requests_are_judged_one_at_a_time() -> None:
    busy = threading.Lock()
    clashes: list[int] = []

    class Single(SpelledEvaluator):
        def logprobs_batch(self, sources: Any, targets: Any) -> Any:
            if not busy.acquire(blocking=False):
                clashes.append(1)
                return super().logprobs_batch(sources, targets)
            try:
                time.sleep(0.002)
                return super().logprobs_batch(sources, targets)
            finally:
                busy.release()

    shared = SentenceJudge(Single(max_tokens=200))
    sentences = [f"Der Koch Nummer {i} ging." for i in range(50)]

    def probability(text: str) -> float:
        return shared.judge("The cook left.", text, "cook", gender="female").probability_correct

    with ThreadPoolExecutor(25) as pool:
        found = list(pool.map(probability, sentences))
    alone = SentenceJudge(SpelledEvaluator(max_tokens=200))
    assert found == [
        alone.judge("The cook left.", text, "cook", gender="female").probability_correct
        for text in sentences
    ]
    assert not clashes
    assert len(set(found)) > 40


def test_only_data_present_on_the_machine_is_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CC_HF_DATA_DIR", raising=False)
    found = available_data()
    assert list(found) == ["simplegen"]  # simplegen is generated; the other datasets need files
    assert found["simplegen"].configs["en-de"] == {
        "de": ["contrastive_conditioning", "simplegen_accuracy"]
    }


def test_only_metrics_that_can_judge_translations_here_are_offered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    winomt, mucow = declaration("winomt").config(None), declaration("mucow").config("en-de")
    assert config_metrics("winomt", winomt, "de") == [
        "contrastive_conditioning",
        "winomt_pattern_matching",
    ]
    assert config_metrics("winomt", winomt, "ru") == ["winomt_pattern_matching"]  # no evaluator
    assert "contrastive_translation_scoring" not in config_metrics("mucow", mucow, "de")
    # the page's own evaluator is for its languages only
    assert "contrastive_conditioning" in config_metrics("winomt", winomt, "cs", ("en", "cs"))
    assert "contrastive_conditioning" not in config_metrics("winomt", winomt, "de", ("en", "cs"))
    arabic = declaration("simplegen").config("en")
    assert config_metrics("simplegen", arabic, "ar") == []  # without a dictionary
    monkeypatch.setitem(sys.modules, "spacy", None)
    _is_available.cache_clear()
    predictor.cache_clear()
    assert config_metrics("winomt", winomt, "fr") == []
    _is_available.cache_clear()


@pytest.mark.shared
def test_data_of_a_local_copy_is_offered(shared: Path) -> None:
    found = available_data(shared / "upstream")
    assert {"simplegen", "winomt", "mucow", "mt_geneval"} <= set(found)
    assert "default" in found["winomt"].configs


def test_the_sample_file_fits_its_data() -> None:
    dataset, config, language, metric = _SAMPLE_CHOICE
    assert metric in available_data()[dataset].configs[config][language]
    text = gzip.decompress(_SAMPLE.read_bytes()).decode("utf-8")
    assert len(text.splitlines()) == declaration(dataset).config(config).splits["test"]


def test_prepared_models_are_used_by_visitors(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[object] = []

    def resolve(name: object, *_: object, **__: object) -> SpelledEvaluator:
        opened.append(name)
        return SpelledEvaluator(max_tokens=200)

    monkeypatch.setattr("cc_hf.leaderboard.live.resolve_evaluator", resolve)
    sentences, files = SentenceJudge(), FileJudge()
    sentences.prepare()
    files.prepare("en", "de")
    assert opened == ["cc-tiny-en-de", None]
    sentences.judge(SOURCE, "Ja.", "cook", occurrence=1, gender="male")
    files.prepare("en", "de")
    assert len(opened) == 2


def test_judgements_use_few_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    used: list[int] = []
    monkeypatch.setattr(torch, "get_num_threads", lambda: 64)
    monkeypatch.setattr(torch, "set_num_threads", used.append)
    SentenceJudge(SpelledEvaluator(max_tokens=200)).prepare()
    assert used == [4, 64]


@cases_by_words(("n_weights", "n_threads"), [(7_000_000, 1), (20_000_000, 1), (74_000_000, 4)])
def test_a_small_model_judges_a_sentence_on_one_thread(n_weights: int, n_threads: int) -> None:
    evaluator: Any = SpelledEvaluator(max_tokens=200)
    weights = SimpleNamespace(numel=lambda: n_weights)
    evaluator.model = SimpleNamespace(parameters=lambda: iter([weights]))
    assert _sentence_threads(evaluator) == n_threads


def test_a_file_is_judged_on_few_threads(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import torch

    used: list[int] = []
    monkeypatch.setattr(torch, "get_num_threads", lambda: 64)
    monkeypatch.setattr(torch, "set_num_threads", used.append)
    path = tmp_path / "t.txt"
    path.write_text("Sie ist Ärztin.\nEr ist Arzt.\n" * 1332, encoding="utf-8")
    FileJudge().judge(path, "simplegen", "en-de", "de", "simplegen_accuracy")
    assert used == [4, 64]


def test_an_uploaded_file_is_judged_as_by_evaluate(tmp_path: Path) -> None:
    path = tmp_path / "t.txt"
    path.write_text("Sie ist Ärztin.\nEr ist Arzt.\n" * 1332, encoding="utf-8")
    evaluator = SpelledEvaluator(max_tokens=200)
    judge = FileJudge(evaluator=evaluator)
    found = judge.judge(path, "simplegen", "en-de", "de", "contrastive_conditioning")
    direct = evaluate_dataset("simplegen", "en-de", translations=path, evaluator=evaluator)
    assert found.to_json() == direct.to_json()
    by_words = judge.judge(path, "simplegen", "en-de", "de", "simplegen_accuracy")
    assert (
        by_words.to_json()
        == evaluate_dataset(
            "simplegen", "en-de", translations=path, metric="simplegen_accuracy"
        ).to_json()
    )


@cases_by_message(
    ("content", "message"),
    [
        (b"", r"^t\.txt: expected translations, got an empty file"),
        (b" \n \n", "got an empty file"),
        (b"x" * (MAX_UPLOAD + 1), r"^t\.txt: expected at most 5 MB, got 5\.0 MB"),
        (b"\x89PNG\x00\x01", "got a binary file"),
        (b"Sch\xf6n\n", r"^t\.txt: line 1: expected UTF-8"),
        (b"one line\n", r"^t\.txt: expected one line per example, 2664 in all, got 1"),
        (b'{"translation": 3}\n', r"^t\.txt: line 1"),
        (b'{"translation": ' + b"[" * 30_000, r"^t\.txt: line 1: expected a JSON object"),
        (b'{"translation": ' + b"1" * 5000 + b"}\n", r"^t\.txt: line 1: expected a JSON object"),
        (b"a ||| b\nc\n", r"^t\.txt: line 2"),
        (b"a\n" * (MAX_FILE_LINES + 1), r"^t\.txt: expected at most 20,000 lines here"),
        (b"a\n" + b"a" * (MAX_LINE + 1) + b"\n", r"^t\.txt: line 2: expected at most 32,768 bytes"),
        (b"a\n" * 2663 + b"a" * (MAX_TEXT_CHARACTERS + 1), r"^t\.txt: the translation.*got 2001"),
        (
            b"a" * (MAX_MEAN_CHARACTERS + 1) + b"\n" + (b"a" * MAX_MEAN_CHARACTERS + b"\n") * 2663,
            r"^t\.txt: expected at most 300 characters per translation",
        ),
    ],
)
def test_broken_files_are_refused_before_judging(
    content: bytes, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.txt"
    path.write_bytes(content)
    monkeypatch.setattr(
        "cc_hf.leaderboard.live.evaluate", lambda *_, **__: pytest.fail("nothing may be judged")
    )
    with pytest.raises(InputError, match=message) as caught:
        FileJudge().judge(path, "simplegen", "en-de", "de", "simplegen_accuracy")
    assert str(tmp_path) not in str(caught.value)


def test_unknown_datasets_metrics_and_paths_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.txt"
    path.write_text("Ja.\n", encoding="utf-8")
    (tmp_path / "own.csv").write_text(
        "source,focus,gold\nThe cook left.,cook,male\n", encoding="utf-8"
    )
    with pytest.raises(CCError, match="unknown dataset"):
        FileJudge().judge(path, str(tmp_path / "own.csv"), "own", "de", "contrastive_conditioning")
    for names in (
        ("no", "en-de", "de", "simplegen_accuracy"),
        ("simplegen", "no", "de", "simplegen_accuracy"),
        ("simplegen", "en-de", "de", "no"),
    ):
        with pytest.raises(CCError):
            FileJudge().judge(path, *names)
