"""The judges of the package cc_hf_judges: found where it is installed, with their evidence."""

from pathlib import Path

import pytest
from transformers import AutoTokenizer

import cc_hf
from cc_hf import evidence, registry
from cc_hf.evidence import read_evidence
from cc_hf.levels import trust_by
from cc_hf.models.location import EmbeddedModel, default_evaluator, hash_files, model_files
from tests.helpers.plugins import add_package
from tests.helpers.usual import refuses
from tools.release import project

_JUDGES = Path(__file__).parent.parent.parent / "judges"
_POINTS: dict[str, dict[str, str]] = project(_JUDGES)["entry-points"]
_NAMES = sorted(_POINTS["cc_hf.evaluators"])


@pytest.fixture
def installed(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install the package, as pip does with --editable."""
    monkeypatch.syspath_prepend(_JUDGES)
    add_package(site, "cc_hf_judges", _POINTS, None)
    monkeypatch.setattr(evidence, "_known", evidence._known.__wrapped__)


def judge(name: str) -> EmbeddedModel:
    model: EmbeddedModel = registry.resolve("evaluator", name)
    return model


def test_without_the_package_no_judge_is_found() -> None:
    refuses("none ships with the package for en-es", default_evaluator, "en", "es")


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("name", _NAMES)
class TestJudge:
    """What holds for each judge."""

    def test_it_is_that_of_its_pair(self, name: str) -> None:
        model = judge(name)
        assert default_evaluator(model.src_lang, model.tgt_lang) == name
        evaluator = cc_hf.load_evaluator(name)
        assert evaluator.identity == model.identity == hash_files(model_files(model.path))
        assert sum(p.stat().st_size for p in model.path.iterdir()) < 20_000_000

    def test_its_characters_are_those_of_its_vocabulary(self, name: str) -> None:
        model = judge(name)
        tokenizer = AutoTokenizer.from_pretrained(model.path)
        known = [c for c in map(chr, range(33, 0x250)) if tokenizer.unk_token_id not in
                 tokenizer(text_target=f"a{c}")["input_ids"]]  # fmt: skip
        assert {*model.characters} <= {*known}

    def test_its_evidence_is_known_and_reaches_a_level(self, name: str) -> None:
        model = judge(name)
        assert model.evidence is not None
        every = read_evidence(model.evidence)
        assert {row.evaluator for row in every} == {f"{n}@{judge(n).identity}" for n in _NAMES}
        rows = [row for row in every if row.evaluator == f"{name}@{model.identity}"]
        assert {*rows} <= {*evidence.known_evidence()}
        by_set = {(row.dataset, row.signature) for row in rows}
        levels = {
            trust_by([r for r in rows if (r.dataset, r.signature) == key], {}).level
            for key in by_set
        }
        assert "ranks only" in levels

    def test_its_card_says_what_it_was_trained_on(self, name: str) -> None:
        card = judge(name).card.read_text(encoding="utf-8")
        for heading in ("## Training data", "## Evaluation", "## Limits", "## Licence"):
            assert heading in card
