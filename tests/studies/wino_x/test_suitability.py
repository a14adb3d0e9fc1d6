import re
from pathlib import Path

import pytest

from cc_hf.cues.referents import ambiguous_it
from cc_hf.studies.wino_x.suitability import FILTERS, select_schemas
from cc_hf.studies.wino_x.winogrande import load_winogrande
from tests.helpers.cases import cases
from tests.helpers.judged import Examples
from tests.helpers.lines import read_jsonl, write_jsonl
from tests.studies.wino_x.winogrande_rows import Rows, schema

_BEDS = ("sofa", "bed")
_SUITABLE = (
    "The sofa was chosen over the bed because the _ was {}.",
    "He poured from the sofa onto the bed until _ was {}.",
    "He moved the sofa and not the bed, as the _ quickly looked {}.",
    "He kept the sofa near the bed so he thought the _ seemed {}.",
    "The sofa hit the bed, and the _ never got {}.",
)


def _twins(text: str = _SUITABLE[0], options: tuple[str, str] = _BEDS, second: str = "old") -> Rows:
    return schema(text, *options, ("red", second))


def _removed(removed: dict[str, int]) -> dict[str, int]:
    return {name: n for name, n in removed.items() if n}


def _sentences(path: Path, rows: Rows) -> Examples:
    return load_winogrande(write_jsonl(path / "rows.jsonl", rows))


@pytest.mark.parametrize("template", _SUITABLE)
def test_a_suitable_schema_gets_it_in_its_gap(template: str, tmp_path: Path) -> None:
    candidates, removed = select_schemas(_sentences(tmp_path, _twins(template)))
    assert not any(removed.values())
    first, second = candidates
    assert (first.id, second.id, first.pair) == ("rows-0-1", "rows-0-2", "rows-0")
    assert (first.options, first.answer, second.answer) == (("sofa", "bed"), 1, 2)
    assert re.search(r" it \w+ ", first.sentence)
    assert "the it" not in first.sentence
    assert first.filled(2) == first.context.replace("_", "the bed")
    start = ambiguous_it(first.sentence).start
    assert first.sentence[:start] + "_" + first.sentence[start + 2 :] == first.context


@cases(
    ("animate", "Ian saw Dennis, so _ was {}.", ("Ian", "Dennis")),
    ("animate", "The cat chased the ball until the _ was {}.", ("cat", "ball")),
    ("animate", "The teacher saw the bus until the _ was {}.", ("teacher", "bus")),
    ("plural", "The keys hit the box but the _ looked {}.", ("keys", "box")),
    ("plural", "The scarf fits the jeans, as the _ is {}.", ("scarf", "jeans")),
    ("plural", "The sheet lay on the bed if the _ were {}.", ("sheet", "bed")),
    ("activity", "He liked singing, not the bed, as _ was {}.", ("singing", "bed")),
    ("activity", "Playing the lute beat the bed; _ was {}.", ("playing the lute", "bed")),
    ("adjective", "The sofa and the bed fell since the old _ was {}.", _BEDS),
    ("noun_phrase", "The sofa and the bed fell since her _ was {}.", _BEDS),
    ("noun_phrase", "The sofa, not the bed, fell, as the _'s leg was {}.", _BEDS),
    ("noun_phrase", "The sofa, not the bed, fell, as the _ table was {}.", _BEDS),
    ("noun_phrase", "The sofa, not the bed, fell, as the _ keys were {}.", _BEDS),
    ("not_subject", "The sofa, not the bed; he put it on the _ , which was {}.", _BEDS),
    ("not_subject", "The sofa hit the bed, which made the _ {}.", _BEDS),
    ("other_sentence", "He has a sofa and a bed. The _ was {}.", _BEDS),
    ("other_sentence", "The sofa fell because the _ was {}.", _BEDS),
    ("another_it", "The sofa hit the bed as the _ was {} when it fell.", _BEDS),
)
def test_each_filter_removes_what_it_names(
    reason: str, template: str, options: tuple[str, str], tmp_path: Path
) -> None:
    candidates, removed = select_schemas(_sentences(tmp_path, _twins(template, options)))
    assert not candidates
    assert _removed(removed) == {reason: 2}


def test_twins_are_removed_together_and_every_sentence_is_counted(tmp_path: Path) -> None:
    jars = "The cup from the big shop hit the old jar there, as the _ was {}."
    half = _twins(jars, ("cup", "jar"), "red as it is")
    alone = _twins("The lamp hit the rug, as the _ was {}.", ("lamp", "rug"))[:1]
    sentences = _sentences(tmp_path, [*_twins(), *half, *alone])
    candidates, removed = select_schemas(sentences)
    assert _removed(removed) == {"no_twin": 1, "another_it": 1, "twin_removed": 1}
    assert list(removed) == list(FILTERS)
    assert len(candidates) + sum(removed.values()) == len(sentences)


def test_sentences_keep_the_ids_of_upstream(tmp_path: Path) -> None:
    first, second = _twins()
    rows = [{**second, "qID": "3A-2"}, {**first, "qID": "3A-1"}]
    candidates, _ = select_schemas(_sentences(tmp_path, rows))
    assert [(c.id, c.answer) for c in candidates] == [("3A-2", 2), ("3A-1", 1)]


def test_own_nouns_and_a_grammar_checker_remove_more(tmp_path: Path) -> None:
    sentences = _sentences(tmp_path, _twins())
    assert select_schemas(sentences, animate={"sofa"})[1]["animate"] == 2
    _, removed = select_schemas(sentences, count_errors=lambda text: " it " in text)
    assert removed["grammar"] == 2
    assert len(select_schemas(sentences, count_errors=len)[0]) == 2  # longer without "it"


@pytest.mark.shared
@cases(("de", 13), ("fr", 1), ("ru", 1))
def test_the_printed_samples_pass_filters(lang: str, n: int, shared: Path, tmp_path: Path) -> None:
    """They passed those of the thesis. Their twins were not printed, so each is its own."""
    rows = read_jsonl(shared / f"gold/wino_x/mt_wino_x_en_{lang}.thesis.jsonl")
    assert len(rows) == n
    for row in rows:
        start = ambiguous_it(row["sentence"]).start
        context = f"{row['sentence'][:start]}the _{row['sentence'][start + 2 :]}"
        twins = schema(context, row["referent1_en"], row["referent2_en"], ("", ""))
        twins = [{**twin, "qID": f"x-{twin['answer']}"} for twin in twins]
        assert select_schemas(_sentences(tmp_path, twins))[0]
