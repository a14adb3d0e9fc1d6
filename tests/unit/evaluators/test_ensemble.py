from __future__ import annotations

import functools
import shutil
from pathlib import Path

import numpy as np
import pytest

import cc_hf
from cc_hf.errors import InputError, TooLongError
from cc_hf.evaluators.base import Evaluator
from cc_hf.schema import ScoringRequest
from tests.helpers import families, plain_forward
from tests.helpers.metrics import compute_metric
from tests.helpers.models import save_tiny_marian

_PAIRS = [
    ("The doctor asked the nurse.", "Der Arzt bat die Krankenschwester."),
    ("", "Ja."),
    ("مرحبا 🎉", "Hallo, «Welt»."),
    ("The nurse.", "Die Pflegerin."),
]
_SOURCES, _TRANSLATIONS = [s for s, _ in _PAIRS], [t for _, t in _PAIRS]
_EN_DE = {"src_lang": "en", "tgt_lang": "de"}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Save two models of one tokenisation and one of another."""
    root = tmp_path_factory.mktemp("ensemble")
    for name in "ab":
        (root / name).mkdir()
        save_tiny_marian(root / name, seed=ord(name), max_positions=400)
    (root / "c").mkdir()
    return [root / "a", root / "b", families.save_tiny_m2m100(root / "c")]


def test_probabilities_are_averaged_token_by_token(folders: list[Path]) -> None:
    evaluator = cc_hf.load_evaluator(folders[:2])
    for found, pair in zip(
        evaluator.token_logprobs(_SOURCES, _TRANSLATIONS, **_EN_DE), _PAIRS, strict=True
    ):
        members = np.exp([plain_forward.marian(folder, *pair).numpy() for folder in folders[:2]])
        # averaging logarithms would differ
        assert np.abs(np.log(members).mean(axis=0) - np.log(members.mean(axis=0))).max() > 0.01
        np.testing.assert_allclose(found, np.log(members.mean(axis=0)), atol=1e-5)
    scores = evaluator.score(
        [ScoringRequest(*pair) for pair in _PAIRS], src_lang="en", tgt_lang="de"
    )
    plain = [
        np.mean(
            [np.exp(plain_forward.marian(folder, *pair).numpy()) for folder in folders[:2]], axis=0
        )
        for pair in _PAIRS
    ]
    np.testing.assert_allclose(scores.mean_logprob, [np.log(p).mean() for p in plain], atol=1e-5)
    np.testing.assert_allclose(scores.mean_probability, [p.mean() for p in plain], atol=1e-5)
    assert scores.n_tokens.tolist() == [len(p) for p in plain]


def test_members_of_different_tokenisation_are_averaged_by_sentence(folders: list[Path]) -> None:
    evaluator = cc_hf.load_evaluator([folders[0], folders[2]])
    members = [cc_hf.load_evaluator(folder) for folder in (folders[0], folders[2])]
    expected = np.mean(
        [member.mean_logprobs(_SOURCES, _TRANSLATIONS, **_EN_DE) for member in members], axis=0
    )
    np.testing.assert_allclose(
        evaluator.mean_logprobs(_SOURCES, _TRANSLATIONS, **_EN_DE), expected, atol=1e-12
    )
    found = evaluator.score(
        [ScoringRequest(*pair) for pair in _PAIRS], src_lang="en", tgt_lang="de"
    )
    alone = [
        member.score([ScoringRequest(*pair) for pair in _PAIRS], src_lang="en", tgt_lang="de")
        for member in members
    ]
    assert found.n_tokens.tolist() == (alone[0].n_tokens + alone[1].n_tokens).tolist()
    np.testing.assert_allclose(
        found.mean_probability, (alone[0].mean_probability + alone[1].mean_probability) / 2
    )
    with pytest.raises(InputError, match="different tokens"):
        evaluator.token_logprobs(["a"], ["b"], **_EN_DE)


def test_the_signature_names_all_members_and_the_kind_of_average(folders: list[Path]) -> None:
    a, b, c = (cc_hf.load_evaluator(folder, mode="exact") for folder in folders)
    alike, others = (
        cc_hf.load_evaluator(folders[:2], mode="exact"),
        cc_hf.load_evaluator(folders, mode="exact"),
    )
    assert alike.signature_fields() == {
        "eval": f"a@{a.identity}+b@{b.identity}",
        "dtype": "float32",
        "ensemble": "token",
    }
    assert others.signature_fields() == {
        "eval": f"a@{a.identity}+b@{b.identity}+c@{c.identity}",
        "dtype": "float32",
        "ensemble": "sentence",
    }
    assert (alike.name, alike.identity) == ("a+b", f"{a.identity}+{b.identity}")


@pytest.mark.parametrize("what", ["vocab", "merges"])
def test_a_changed_vocabulary_counts_as_another_tokenisation(tmp_path: Path, what: str) -> None:
    (tmp_path / "a").mkdir()
    shutil.copytree(families.save_tiny_fsmt(tmp_path / "a"), tmp_path / "b")
    assert (
        cc_hf.load_evaluator([tmp_path / "a", tmp_path / "b"]).signature_fields()["ensemble"]
        == "token"
    )
    path = tmp_path / "b" / {"vocab": "vocab-tgt.json", "merges": "merges.txt"}[what]
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    path.write_text(
        text.replace('"Ar"', '"Ǽ"') if what == "vocab" else "".join(lines[:-2] + lines[:-3:-1]),
        encoding="utf-8",
    )
    assert path.read_text(encoding="utf-8") != text
    assert (
        cc_hf.load_evaluator([tmp_path / "a", tmp_path / "b"]).signature_fields()["ensemble"]
        == "sentence"
    )


def test_order_duplicates_and_batch_size_do_not_change_scores(folders: list[Path]) -> None:
    for chosen in (folders[:2], folders):
        once = cc_hf.load_evaluator(chosen).mean_logprobs(_SOURCES, _TRANSLATIONS, **_EN_DE)
        evaluator = cc_hf.load_evaluator(chosen, batch_tokens=1)
        np.testing.assert_allclose(
            evaluator.mean_logprobs(_SOURCES[::-1] * 2, _TRANSLATIONS[::-1] * 2, **_EN_DE),
            np.tile(once[::-1], 2),
            atol=1e-5,
        )


def test_an_ensemble_of_one_member_is_that_member(folders: list[Path]) -> None:
    assert cc_hf.load_evaluator([folders[0]]) is cc_hf.load_evaluator(folders[0])


def test_unfit_members_and_options_are_refused(folders: list[Path]) -> None:
    with pytest.raises(InputError, match="at least one evaluator"):
        cc_hf.load_evaluator([])
    with pytest.raises(InputError, match="one for each of the 2 members"):
        cc_hf.load_evaluator(folders[:2], revision="main")
    with pytest.raises(InputError, match="does not support the target language 'fr'"):
        cc_hf.load_evaluator(folders).mean_logprobs(["a"], ["b"], src_lang="en", tgt_lang="fr")
    with pytest.raises(TooLongError, match="takes at most 400"):
        cc_hf.load_evaluator(folders[:2]).mean_logprobs(["doctor nurse " * 200], ["b"], **_EN_DE)


def test_an_ensemble_can_judge_translations(folders: list[Path]) -> None:
    references = [
        {
            "correct_sources": ["The [female] doctor."],
            "incorrect_sources": ["The [male] doctor."],
            "category": "female",
        }
    ]
    compute = functools.partial(compute_metric, "contrastive_conditioning")

    found = compute(
        ["Die Ärztin."],
        references,
        evaluator=[str(folder) for folder in folders[:2]],
        src_lang="en",
        tgt_lang="de",
    )
    assert 0 < found["probability_correct"][0] < 1
    assert "|ensemble:token|" in found["signature"]


@pytest.mark.parametrize("n_members", [2, 3])
def test_scores_of_an_ensemble_are_cached(
    folders: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n_members: int
) -> None:
    path = tmp_path / "scores.sqlite"
    first = cc_hf.load_evaluator(folders[:n_members], cache=path).mean_logprobs(
        _SOURCES, _TRANSLATIONS, **_EN_DE
    )
    monkeypatch.setattr(Evaluator, "score_batch", None)  # nothing is scored again
    again = cc_hf.load_evaluator(folders[:n_members], cache=path).mean_logprobs(
        _SOURCES, _TRANSLATIONS, **_EN_DE
    )
    assert again.tolist() == first.tolist()
