import shutil
from pathlib import Path

import numpy as np
import pytest

import cc_hf
from cc_hf.errors import InputError, TooLongError
from cc_hf.schema import ScoringRequest
from tests.helpers import families, plain_forward
from tests.helpers.models import save_tiny_marian
from tests.helpers.pairs import EN_DE, PAIRS, SOURCES, TRANSLATIONS
from tests.helpers.refusals import refuses

REQUESTS = [ScoringRequest(*pair) for pair in PAIRS]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Save two models of one tokenisation and one of another."""
    root = tmp_path_factory.mktemp("ensemble")
    for name in "ab":
        save_tiny_marian(root / name, seed=ord(name), max_positions=400)
    return [root / "a", root / "b", families.save_tiny_m2m100(root / "c")]


def test_probabilities_are_averaged_token_by_token(folders: list[Path]) -> None:
    evaluator = cc_hf.load_evaluator(folders[:2])
    plain = []
    found = evaluator.token_logprobs(SOURCES, TRANSLATIONS, **EN_DE)
    for logprobs, pair in zip(found, PAIRS, strict=True):
        members = np.exp([plain_forward.marian(folder, *pair).numpy() for folder in folders[:2]])
        plain.append(members.mean(axis=0))
        # averaging logarithms would differ
        assert np.abs(np.log(members).mean(axis=0) - np.log(plain[-1])).max() > 0.01
        np.testing.assert_allclose(logprobs, np.log(plain[-1]), atol=1e-5)
    scores = evaluator.score(REQUESTS, **EN_DE)
    np.testing.assert_allclose(scores.mean_logprob, [np.log(p).mean() for p in plain], atol=1e-5)
    np.testing.assert_allclose(scores.mean_probability, [p.mean() for p in plain], atol=1e-5)
    assert scores.n_tokens.tolist() == [len(p) for p in plain]


def test_members_of_different_tokenisation_are_averaged_by_sentence(folders: list[Path]) -> None:
    evaluator = cc_hf.load_evaluator([folders[0], folders[2]])
    found = evaluator.score(REQUESTS, **EN_DE)
    alone = [cc_hf.load_evaluator(folders[i]).score(REQUESTS, **EN_DE) for i in (0, 2)]
    for name in ("mean_logprob", "mean_probability"):
        expected = sum(getattr(member, name) for member in alone) / 2
        np.testing.assert_allclose(getattr(found, name), expected, atol=1e-12)
    assert found.n_tokens.tolist() == (alone[0].n_tokens + alone[1].n_tokens).tolist()
    refuses("different tokens", evaluator.token_logprobs, ["a"], ["b"], **EN_DE)


def test_the_signature_names_all_members_and_the_kind_of_average(folders: list[Path]) -> None:
    a, b, c = (cc_hf.load_evaluator(folder, mode="exact") for folder in folders)
    two, name = cc_hf.load_evaluator(folders[:2], mode="exact"), f"a@{a.identity}+b@{b.identity}"
    assert two.signature_fields() == {"eval": name, "dtype": "float32", "ensemble": "token"}
    three = cc_hf.load_evaluator(folders, mode="exact").signature_fields()
    assert three == {"eval": f"{name}+c@{c.identity}", "dtype": "float32", "ensemble": "sentence"}
    assert (two.name, two.identity) == ("a+b", f"{a.identity}+{b.identity}")


@pytest.mark.parametrize("what", ["vocab", "merges"])
def test_a_changed_vocabulary_counts_as_another_tokenisation(tmp_path: Path, what: str) -> None:
    def average() -> str:
        return cc_hf.load_evaluator([tmp_path / "a", tmp_path / "b"]).signature_fields()["ensemble"]

    (tmp_path / "a").mkdir()
    shutil.copytree(families.save_tiny_fsmt(tmp_path / "a"), tmp_path / "b")
    assert average() == "token"
    path = tmp_path / "b" / {"vocab": "vocab-tgt.json", "merges": "merges.txt"}[what]
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    other = text.replace('"Ar"', '"Ǽ"') if what == "vocab" else "".join(lines[:-2] + lines[:-3:-1])
    assert other != text
    path.write_text(other, encoding="utf-8")
    assert average() == "sentence"


def test_order_duplicates_and_batch_size_do_not_change_scores(folders: list[Path]) -> None:
    for chosen in (folders[:2], folders):
        once = cc_hf.load_evaluator(chosen).mean_logprobs(SOURCES, TRANSLATIONS, **EN_DE)
        evaluator = cc_hf.load_evaluator(chosen, batch_tokens=1)
        twice = evaluator.mean_logprobs(SOURCES[::-1] * 2, TRANSLATIONS[::-1] * 2, **EN_DE)
        np.testing.assert_allclose(twice, np.tile(once[::-1], 2), atol=1e-5)


def test_an_ensemble_of_one_member_is_that_member(folders: list[Path]) -> None:
    assert cc_hf.load_evaluator([folders[0]]) is cc_hf.load_evaluator(folders[0])


def test_unfit_members_and_options_are_refused(folders: list[Path]) -> None:
    refuses("one for each of the 2 members", cc_hf.load_evaluator, folders[:2], revision="main")
    with pytest.raises(InputError, match="does not support the target language 'fr'"):
        cc_hf.load_evaluator(folders).mean_logprobs(["a"], ["b"], src_lang="en", tgt_lang="fr")
    with pytest.raises(TooLongError, match="takes at most 400"):
        cc_hf.load_evaluator(folders[:2]).mean_logprobs(["doctor nurse " * 200], ["b"], **EN_DE)
