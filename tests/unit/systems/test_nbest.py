"""Searches and systems that do not fit n-best lists or contrasts are refused."""

from pathlib import Path
from typing import Any

from cc_hf.schema import ProbingExample
from cc_hf.systems.nbest import cued_sources, translate_nbest
from cc_hf.systems.system import System
from tests.helpers import families
from tests.helpers.usual import EN_DE, cases, refuses


@cases(
    ({"contrast": 0.5}, "other sources for a contrast above 0"),
    ({"others": ["a"]}, "none for 0"),
    ({"others": ["a", "b"], "contrast": 0.5}, "expected 1 sources, got 2"),
    ({"contrast": -1.0}, "contrast: expected a number of at least 0"),
    ({"n_best": 9}, r"as there are beams \(5\), got 9"),
)
def test_searches_that_do_not_fit_are_refused(options: dict[str, Any], message: str) -> None:
    refuses(message, translate_nbest, ["He left."], System("cc-tiny-en-de"), **options)


def test_systems_that_cannot_are_refused(tmp_path: Path) -> None:
    names = [str(tmp_path / str(seed)) for seed in (0, 1)]
    for seed, name in enumerate(names):
        families.save_tiny_m2m100(Path(name), seed=seed)
    both, contrast = System(tuple(names)), {"others": ["b"], "contrast": 0.5, **EN_DE}
    refuses("one model that translates, got an ensemble", translate_nbest, ["a"], both, **contrast)
    lists = translate_nbest(["the doctor", " "], both, n_best=2, **EN_DE)
    assert [len(hypotheses) for hypotheses in lists] == [2, 1]
    assert all(h.score is not None and h.score < 0 for h in lists[0])
    by_int8 = translate_nbest(["a"], System(names[0], precision="int8"), n_best=2, **EN_DE)
    assert [h.score for h in by_int8[0]] == [None, None]
    probing = ProbingExample("0", "en", "de", "A lock.", "all", "Schloss")
    refuses("expected a dataset with contrastive sources", cued_sources, [probing])
