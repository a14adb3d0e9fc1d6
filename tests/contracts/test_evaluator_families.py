"""Every registered evaluator family gives the log-probabilities of a plain forward pass, whatever
the batches, the order and the duplicates.
"""

from functools import partial
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import numpy.typing as npt
import pytest

import cc_hf
from cc_hf import registry
from cc_hf.errors import TooLongError
from cc_hf.evaluators.base import Evaluator
from cc_hf.models.pretrained import load_model
from cc_hf.schema import ScoringRequest
from tests.helpers.families import BUILDERS
from tests.helpers.plain_forward import PLAIN
from tests.helpers.refusals import fails, refuses

_LONG = "The doctor asked the nurse to help her. " * 30
# float32 on other processors: up to 2.4e-5 was seen, a padding that leaks moves more than 1e-3
_ATOL = 5e-5
PAIRS = [
    ("The doctor asked the nurse.", "Der Arzt bat die Krankenschwester."),
    ("", "Ja."),
    ("a", "J"),
    ("The [female] mechanic greeted the cook.", "Die Mechanikerin begrüßte die Köchin froh."),
    ("مرحبا بالعالم", "Hallo 🎉 Welt"),
    ("你好 \u2028 x", "unbekannt ∑∆ «נהג»"),
    ("The doctor asked the nurse.", "Die Ärztin bat den Pfleger."),
    (_LONG, "Der Arzt bat. "),
    ("The nurse.", _LONG),
]
Pairs = list[tuple[str, str]]
Texts = tuple[list[str], list[str]]
Logprobs = list[npt.NDArray[np.float64]]
_LANGUAGES = {"src_lang": "en", "tgt_lang": "de"}
# converted from checkpoints: tests/plugins/conversion/test_convert.py,
# tests/parity/test_fairseq.py
_ELSEWHERE = ("fairseq",)
_ONE_DIRECTION = "average_attention bergamot convs2s fsmt lexical_shortcut lstm marian"
_ONE_TEXT = ("causal_lm", "masked_lm")  # source and translation must fit together


_FAMILIES = [name for name in registry.names("evaluator family") if name not in _ELSEWHERE]


@pytest.fixture(scope="module", params=_FAMILIES)
def family(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def pairs(family: str) -> Pairs:
    """Return the pairs, cut for a masked language model, since that runs once per token."""
    return [(s[:400], t[:400]) for s, t in PAIRS] if family == "masked_lm" else PAIRS


@pytest.fixture(scope="module")
def texts(pairs: Pairs) -> Texts:
    return [s for s, _ in pairs], [t for _, t in pairs]


@pytest.fixture(scope="module")
def folder(family: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return BUILDERS[family](tmp_path_factory.mktemp(family))


@pytest.fixture(scope="module")
def expected(family: str, folder: Path, pairs: Pairs) -> Logprobs:
    return [PLAIN[family](folder, source, translation).numpy() for source, translation in pairs]


def test_every_registered_family_is_tested_here_or_elsewhere() -> None:
    assert set(BUILDERS) == set(PLAIN) == set(registry.names("evaluator family")) - set(_ELSEWHERE)


def test_files_show_the_family_and_languages_of_one_direction(family: str, folder: Path) -> None:
    assert type(cc_hf.load_evaluator(folder)) is registry.resolve("evaluator family", family)
    loaded = load_model(folder)
    expected = ("en", "de") if family in _ONE_DIRECTION.split() else ("", "")
    assert (loaded.src_lang, loaded.tgt_lang) == expected


@pytest.mark.parametrize("batch_tokens", [1, 150, 100_000])
def test_logprobs_equal_a_plain_forward_pass(
    family: str, folder: Path, expected: Logprobs, pairs: Pairs, texts: Texts, batch_tokens: int
) -> None:
    evaluator = cc_hf.load_evaluator(folder, batch_tokens=batch_tokens)
    assert max(len(e) for e in expected) > {"causal_lm": 200, "masked_lm": 80}.get(family, 500)
    for actual, plain in zip(evaluator.token_logprobs(*texts, **_LANGUAGES), expected, strict=True):
        np.testing.assert_allclose(actual, plain, atol=_ATOL, rtol=0)
    requests = [ScoringRequest(s, t, i) for i, (s, t) in enumerate(pairs)]
    scores = evaluator.score(requests, src_lang="en", tgt_lang="de")
    assert scores.n_tokens.tolist() == [len(e) for e in expected]
    means = [(e.mean(), np.exp(e).mean()) for e in expected]
    scored = np.stack([scores.mean_logprob, scores.mean_probability], axis=1)
    np.testing.assert_allclose(scored, means, atol=_ATOL, rtol=0)


def test_order_and_duplicates_are_no_matter(folder: Path, texts: Texts) -> None:
    sources, translations = texts
    evaluator = cc_hf.load_evaluator(folder)
    once = evaluator.mean_logprobs(sources, translations, **_LANGUAGES)
    assert once.dtype == np.float64
    turned = evaluator.mean_logprobs(sources[::-1], translations[::-1], **_LANGUAGES)
    np.testing.assert_array_equal(turned, once[::-1])
    twice = evaluator.mean_logprobs(sources * 2, translations * 2, **_LANGUAGES)
    np.testing.assert_array_equal(twice, np.tile(once, 2))


def test_each_is_scored_once(folder: Path, texts: Texts, monkeypatch: pytest.MonkeyPatch) -> None:
    evaluator = cc_hf.load_evaluator(folder, batch_tokens=999)
    scored = Mock(wraps=evaluator.score_batch)
    monkeypatch.setattr(evaluator, "score_batch", scored)
    evaluator.mean_logprobs(texts[0] * 3, texts[1] * 3, **_LANGUAGES)
    assert sum(len(call.args[0]) for call in scored.mock_calls) == len(PAIRS)


def test_scores_depend_on_the_source(folder: Path) -> None:
    sides = ["The doctor.", "The nurse."], ["Der Arzt."] * 2
    first, second = cc_hf.load_evaluator(folder).mean_logprobs(*sides, **_LANGUAGES)
    assert abs(first - second) > 1e-4


def test_languages_of_loading_are_used(folder: Path, texts: Texts) -> None:
    sources, translations = texts
    plain, given = cc_hf.load_evaluator(folder), cc_hf.load_evaluator(folder, **_LANGUAGES)
    expected = plain.mean_logprobs(sources[:2], translations[:2], **_LANGUAGES)
    np.testing.assert_array_equal(given.mean_logprobs(sources[:2], translations[:2]), expected)


def test_unknown_languages_are_refused(family: str, folder: Path) -> None:
    evaluator = cc_hf.load_evaluator(folder)
    if family == "masked_lm":  # a masked language model reads texts of any language
        evaluator.check_languages("tlh", "tlh")
        return
    scored = partial(evaluator.mean_logprobs, ["a"], ["b"])
    refuses("language 'tlh'.*de", scored, src_lang="en", tgt_lang="tlh")
    refuses("language 'tlh'.*en", scored, src_lang="tlh", tgt_lang="de")
    refuses("language 'tlh'", cc_hf.load_evaluator, folder, tgt_lang="tlh")


def test_too_long_texts_are_refused_or_truncated(family: str, folder: Path) -> None:
    long = "doctor nurse " * 501
    evaluator: Evaluator = cc_hf.load_evaluator(folder)
    scored = partial(evaluator.mean_logprobs, **_LANGUAGES)
    fails(TooLongError, "row 1: the source", scored, ["a", long], ["b", "c"])
    too_long = "source and the translation" if family in _ONE_TEXT else "translation"
    fails(TooLongError, f"row 0: the {too_long}", scored, ["a"], [long])
    cut = cc_hf.load_evaluator(folder, on_too_long="truncate")
    sources = ["a" if family in _ONE_TEXT else long, "a"]
    assert np.isfinite(cut.mean_logprobs(sources, ["b", long], **_LANGUAGES)).all()


def test_named_logprobs_give_token_texts(folder: Path, expected: Logprobs, pairs: Pairs) -> None:
    evaluator = cc_hf.load_evaluator(folder)
    short = [i for i, pair in enumerate(pairs) if sum(map(len, pair)) < 200]
    sources, translations = zip(*(pairs[i] for i in short), strict=True)
    actual = evaluator.named_logprobs(sources, translations, **_LANGUAGES)
    assert len(actual) > 5
    texts = evaluator.decode_targets(evaluator.encode_targets(translations, "en", "de"))
    for i, row, whole in zip(short, actual, texts, strict=True):
        np.testing.assert_allclose([logprob for _, logprob in row], expected[i], atol=_ATOL, rtol=0)
        # M2M100 writes its languages out; they are not counted
        assert "".join(name for name, _ in row) == "".join(whole.split()).removeprefix("__de__")
