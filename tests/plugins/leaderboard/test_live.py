import gzip
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock, patch

import pytest

from cc_hf import registry
from cc_hf.data.loading import declaration
from cc_hf.errors import CCError, InputError, MissingDependencyError
from cc_hf.plugins.leaderboard import live
from cc_hf.plugins.leaderboard.file_tab import _SAMPLE, _SAMPLE_CHOICE
from cc_hf.plugins.leaderboard.live import FileJudge, SentenceJudge
from cc_hf.schema import ProbingExample
from tests.helpers.letter_evaluator import SpelledEvaluator
from tests.helpers.usual import cases, evaluate_dataset, fails, refuses, write_lines

SOURCE = "The cook saw the cook."


@pytest.fixture
def judge() -> SentenceJudge:
    return SentenceJudge(SpelledEvaluator(max_tokens=200))


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    """Return a file with a line for each example of SimpleGEN."""
    return write_lines(tmp_path / "t.txt", ["Sie ist Ärztin.", "Er ist Arzt."] * 1332)


@pytest.fixture
def used(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the numbers of threads that are set on a machine of 64."""
    actual: list[int] = []
    monkeypatch.setattr("torch.get_num_threads", lambda: 64)
    monkeypatch.setattr("torch.set_num_threads", actual.append)
    return actual


_BATS = {"correct_cues": " baseball | cricket ", "incorrect_cues": "flying|{focus} (the animal)"}
_BAT = "baseball bat|cricket bat", "flying bat|bat (the animal)"
_FIRST, _SECOND = {"occurrence": 1, "gender": "male"}, {"occurrence": 2, "gender": "female"}
_IT = {"correct_cues": "The key", "incorrect_cues": "The lamp", "placement": "replace"}


@cases(
    (SOURCE, "cook", _SECOND, "The cook saw the _ cook.", "[female]", "[male]"),
    (SOURCE, "cook", _FIRST, "The _ cook saw the cook.", "[male]", "[female]"),
    ("The bat was old.", " bat ", _BATS, "The _ was old.", *_BAT),
    ("It fell.", "It", _IT, "_ fell.", "The key", "The lamp"),
)
def test_cues_are_inserted_at_the_occurrence(
    source: str, focus: str, options: Any, shown: str, right: str, wrong: str, judge: SentenceJudge
) -> None:
    actual = judge.judge(source, "x", focus, **options)
    assert actual.correct_source in [shown.replace("_", cue) for cue in right.split("|")]
    assert actual.incorrect_source in [shown.replace("_", cue) for cue in wrong.split("|")]


_OWN = {"gender": "", "correct_cues": "one", "incorrect_cues": "two"}
_LONG = "x" * (live.MAX_TEXT_CHARACTERS + 1)
_MANY = "|".join(map(str, range(live.MAX_CUES + 1)))


@cases(
    ({"source": " "}, "source: expected a text"),
    ({"translation": ""}, "translation: expected a text"),
    ({"focus": ""}, "word: expected a text"),
    ({"translation": _LONG}, "at most 2000 characters, got 2001"),
    ({"focus": "coo"}, "'coo' does not occur as a whole word"),
    ({"occurrence": None}, "'cook' occurs 2 times .* say which occurrence, 1 to 2"),
    ({"occurrence": 3}, "expected 1 to 2"),
    ({"occurrence": 0}, "expected 1 to 2"),
    ({"gender": "x"}, "gold: expected male or female"),
    ({"gender": ""}, "correct cues: expected at least one cue"),
    ({**_OWN, "incorrect_cues": " | "}, "incorrect cues: expected at least one cue"),
    ({**_OWN, "correct_cues": _LONG}, "correct cues: .* at most 2000 characters, got 2001"),
    ({**_OWN, "incorrect_cues": _MANY}, "incorrect cues: .* at most 20, .* got 21"),
    ({**_OWN, "incorrect_cues": "one"}, "same cue is both correct and incorrect"),
    ({**_OWN, "placement": "below"}, "placement: expected one of"),
    ({"translation": "lone \ud800"}, "lone surrogate"),
)
def test_bad_text_is_refused(changed: Any, message: str, judge: SentenceJudge) -> None:
    given = {"source": SOURCE, "translation": "Ja.", "focus": "cook", "occurrence": 1}
    refuses(message, judge.judge, **{**given, "gender": "female", **changed})


def test_missing_and_added_parts_are_those_of_the_metric() -> None:
    texts = "A small cook left.", "Ein Koch ging heute."
    there, back = (SpelledEvaluator(max_tokens=200, name=name) for name in ("there", "back"))
    coverage = registry.resolve("metric", "coverage")
    explain_changes = registry.resolve("public name", "explain_changes")
    both, alone = SentenceJudge(there, backward_evaluator=back), SentenceJudge(there)
    of = (both, "en-de", there, back), (both, "de-en", back, there), (alone, "en-de", there, None)
    for judge, pair, evaluator, backward in of:
        example = ProbingExample("0", pair[:2], pair[3:], texts[0], "all", "?")
        expected = explain_changes(coverage(backward), evaluator, example, texts[1])
        actual = judge.find_missing(*texts, pair)
        sides = {"source"} if backward is None else {"source", "translation"}
        assert {change.side for change in actual.changes} == sides
        assert bool(actual.notes) == (backward is None)
        assert replace(actual, notes=expected.notes) == expected


@cases(
    ({"source": " "}, "source: expected a text"),
    ({"translation": "x" * (live.MAX_PARTS_CHARACTERS + 1)}, "translation: .* at most 400 char"),
    ({"source": "x " * (live.MAX_PARTS // 2)}, "source: expected at most 120 parts .* got 177"),
    ({"translation": SOURCE}, "a translation that is not blank or a copy"),
    ({"language_pair": "de-en"}, "language pair: expected one of en-de"),
)
def test_bad_parts_are_refused(changed: dict[str, str], message: str, judge: SentenceJudge) -> None:
    given = {"source": SOURCE, "translation": "Ja.", "language_pair": ""}
    refuses(message, judge.find_missing, **{**given, **changed})


def test_a_language_pair_without_evaluator_is_refused() -> None:
    refuses("none ships with the package for en-fr", SentenceJudge, tgt_lang="fr")
    assert SentenceJudge().name == "cc-tiny-en-de"


def test_concurrent_requests_are_judged_one_at_a_time(judge: SentenceJudge) -> None:
    running, most = Counter[str](), Counter[str]()

    class Single(SpelledEvaluator):
        def logprobs_batch(self, sources: Any, targets: Any) -> Any:
            running["n"] += 1
            most["n"] = max(most["n"], running["n"])
            time.sleep(0.002)
            running["n"] -= 1
            return super().logprobs_batch(sources, targets)

    def probability(text: str, by: SentenceJudge) -> float:
        return by.judge("The cook left.", text, "cook", gender="female").probability_correct

    shared = SentenceJudge(Single(max_tokens=200))
    sentences = [f"Der Koch Nummer {i} ging." for i in range(50)]
    with ThreadPoolExecutor(25) as pool:
        actual = list(pool.map(probability, sentences, [shared] * 50))
    assert actual == [probability(text, judge) for text in sentences]
    assert most["n"] == 1
    assert len(set(actual)) > 40


def test_only_data_present_on_the_machine_is_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CC_HF_DATA_DIR", raising=False)
    actual = live.available_data()
    assert list(actual) == ["simplegen"]  # simplegen is generated; the other datasets need files
    metrics = ["contrastive_conditioning", "simplegen_accuracy"]
    assert actual["simplegen"].configs["en-de"] == {"de": metrics}


def test_only_metrics_that_can_judge_here_are_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    from cc_hf.test_sets.winomt.gender import romance

    winomt, mucow = declaration("winomt").config(None), declaration("mucow").config("en-de")
    both = ["contrastive_conditioning", "winomt_pattern_matching"]
    assert live.config_metrics("winomt", winomt, "de") == both
    assert live.config_metrics("winomt", winomt, "ru") == both[1:]  # no evaluator
    assert "contrastive_translation_scoring" not in live.config_metrics("mucow", mucow, "de")
    # the page's own evaluator is for its languages only
    assert both[0] in live.config_metrics("winomt", winomt, "cs", ("en", "cs"))
    assert both[0] not in live.config_metrics("winomt", winomt, "de", ("en", "cs"))
    arabic = declaration("simplegen").config("en")
    assert live.config_metrics("simplegen", arabic, "ar") == []  # without a dictionary
    monkeypatch.setitem(sys.modules, "spacy", None)
    absent = Mock(side_effect=MissingDependencyError("lt-proc", install="apt install lttoolbox"))
    monkeypatch.setattr(romance, "open_reader", absent)
    live._is_available.cache_clear()
    romance.predictor.cache_clear()
    assert live.config_metrics("winomt", winomt, "fr") == []
    live._is_available.cache_clear()


def test_data_of_a_local_copy_is_offered(shared: Path) -> None:
    actual = live.available_data(shared / "upstream")
    assert {"simplegen", "winomt", "mucow", "mt_geneval"} <= set(actual)
    assert "default" in actual["winomt"].configs


def test_the_sample_file_fits_its_data() -> None:
    dataset, config, language, metric = _SAMPLE_CHOICE
    assert metric in live.available_data()[dataset].configs[config][language]
    text = gzip.decompress(_SAMPLE.read_bytes()).decode("utf-8")
    assert len(text.splitlines()) == declaration(dataset).config(config).splits["test"]


def test_prepared_models_are_used_by_visitors(monkeypatch: pytest.MonkeyPatch) -> None:
    resolve = Mock(return_value=SpelledEvaluator(max_tokens=200))
    monkeypatch.setattr("cc_hf.plugins.leaderboard.live.resolve_evaluator", resolve)
    sentences, files = SentenceJudge(), FileJudge()
    sentences.prepare()
    files.prepare("en", "de")
    assert [call.args[0] for call in resolve.mock_calls] == ["cc-tiny-en-de", None]
    sentences.judge(SOURCE, "Ja.", "cook", occurrence=1, gender="male")
    files.prepare("en", "de")
    assert resolve.call_count == 2


def test_judgements_use_few_threads(judge: SentenceJudge, lines: Path, used: list[int]) -> None:
    judge.prepare()
    assert used == [4, 64]
    FileJudge().judge(lines, "simplegen", "en-de", "de", "simplegen_accuracy")
    assert used == [4, 64] * 2


@cases((7_000_000, 1), (20_000_000, 1), (74_000_000, 4))
def test_a_small_model_judges_a_sentence_on_one_thread(n_weights: int, n_threads: int) -> None:
    evaluator: Any = SpelledEvaluator(max_tokens=200)
    weights = SimpleNamespace(numel=lambda: n_weights)
    evaluator.model = SimpleNamespace(parameters=lambda: iter([weights]))
    assert live._sentence_threads(evaluator) == n_threads


@pytest.mark.parametrize("metric", ["contrastive_conditioning", "simplegen_accuracy"])
def test_an_uploaded_file_is_judged_as_by_evaluate(lines: Path, metric: str) -> None:
    evaluator = SpelledEvaluator(max_tokens=200)
    actual = FileJudge(evaluator=evaluator).judge(lines, "simplegen", "en-de", "de", metric)
    options: dict[str, Any] = {"translations": lines, "metric": metric}
    if metric == "contrastive_conditioning":
        options["evaluator"] = evaluator
    assert actual.to_json() == evaluate_dataset("simplegen", "en-de", **options).to_json()


_LONGEST = b"a" * live.MAX_MEAN_CHARACTERS + b"\n"


@cases(
    (b"", r"^t\.txt: expected translations, got an empty file"),
    (b" \n \n", "got an empty file"),
    (b"x" * (live.MAX_UPLOAD + 1), r"^t\.txt: expected at most 5 MB, got 5\.0 MB"),
    (b"\x89PNG\x00\x01", "got a binary file"),
    (b"Sch\xf6n\n", r"^t\.txt: line 1: expected UTF-8"),
    (b"one line\n", r"^t\.txt: expected one line per example, 2664 in all, got 1"),
    (b'{"translation": 3}\n', r"^t\.txt: line 1"),
    (b'{"translation": ' + b"[" * 30_000, r"^t\.txt: line 1: expected a JSON object"),
    (b'{"translation": ' + b"1" * 5000 + b"}\n", r"^t\.txt: line 1: expected a JSON object"),
    (b"a ||| b\nc\n", r"^t\.txt: line 2"),
    (b"a\n" * (live.MAX_FILE_LINES + 1), r"^t\.txt: expected at most 20,000 lines here"),
    (b"a\n" + b"a" * (live.MAX_LINE + 1) + b"\n", r"^t\.txt: line 2: .* at most 32,768 bytes"),
    (b"a\n" * 2663 + b"a" * (live.MAX_TEXT_CHARACTERS + 1), r"^t\.txt: the translation.*got 2001"),
    (b"a" + _LONGEST * 2664, r"^t\.txt: expected at most 300 characters per translation"),
)
def test_broken_files_are_refused_at_once(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "t.txt"
    path.write_bytes(content)
    judged = patch("cc_hf.plugins.leaderboard.live.evaluate")
    with pytest.raises(InputError, match=message) as caught, judged as judging:
        FileJudge().judge(path, "simplegen", "en-de", "de", "simplegen_accuracy")
    judging.assert_not_called()
    assert str(tmp_path) not in str(caught.value)


def test_unknown_datasets_metrics_and_paths_are_refused(tmp_path: Path) -> None:
    user_file = write_lines(tmp_path / "own.csv", ["source,focus,gold", "The cook left.,cook,male"])
    for *names, message in (
        (str(user_file), "own", "de", "contrastive_conditioning", "unknown dataset"),
        ("no", "en-de", "de", "simplegen_accuracy", "unknown dataset 'no'"),
        ("simplegen", "no", "de", "simplegen_accuracy", "'no'"),
        ("simplegen", "en-de", "de", "no", "'no'"),
    ):
        fails(CCError, message, FileJudge().judge, write_lines(tmp_path / "t.txt", ["Ja."]), *names)
