import hashlib
import json
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import fields, replace
from operator import attrgetter
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

import cc_hf
from cc_hf import signature
from cc_hf.errors import DataError, EvaluatorError, TooLongError
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.plugins.calibration.build import CueChoice, build_cues
from cc_hf.plugins.calibration.cue_set import CueSet, LeftOut, compare_cues
from cc_hf.plugins.calibration.fill_mask import MaskedLM, load_masked_lm
from cc_hf.plugins.calibration.mlm_insertions import candidates_json
from cc_hf.schema import ContrastiveSourceExample, Focus, ProbingExample
from tests.helpers.models import save_tiny_masked_lm
from tests.helpers.usual import (
    cases,
    fails,
    hash_score,
    hash_scores,
    refuses,
    write_jsonl,
    write_text,
)

_CANDIDATES = {
    "bat": {
        "animal": ["brown", "fruit", "vampire", "sleepy", "big"],
        "club": ["wooden", "big", "heavy", "cricket"],
    },
    "doctor": {"man": ["old"]},
    "cook": {"a": ["good"], "b": ["good", "bad"]},
}


def example(number: int, source: str, word: str, sense: str, **change: Any) -> Any:
    focus = Focus(word, source.index(word))
    extra = {"ambiguous_word": word, "reference": f"Satz {number}."}
    return replace(
        ContrastiveSourceExample(
            f"x{number}", "en", "de", source, focus, ("-",), ("-",), "c", sense, extra
        ),
        **change,
    )


def built(rows: Any = None, **options: Any) -> CueSet:
    """Build cues for the examples, from the candidates by the fake evaluator unless told
    otherwise; the fields of CueChoice stand beside the other options.
    """
    names = {field.name for field in fields(CueChoice)} & options.keys()
    choice = CueChoice(**{name: options.pop(name) for name in names})
    usual = {} if "masked_lm" in options else {"candidates": _CANDIDATES}
    options = {"evaluator": hash_scores, **usual, **options}
    return build_cues(examples() if rows is None else rows, **options, choice=choice)


def examples() -> list[ContrastiveSourceExample]:
    senses = ["animal", "club", "animal", "club", "animal"]
    return [
        *(example(i, f"The bat number {i} and a bat.", "bat", s) for i, s in enumerate(senses)),
        example(5, "The doctor left.", "doctor", "man"),
        example(6, "The cook met a cook.", "cook", "a"),
        example(7, "A cook.", "cook", "b"),
    ]


def by_hand(sense: str, words: Sequence[str], *, lowest: bool) -> list[str]:
    rows = [e for e in examples() if e.gold == sense]

    def total(word: str) -> float:
        sources = (f"The {word} {e.source.removeprefix('The ')}" for e in rows)
        return sum(hash_score(s, e.extra["reference"]) for s, e in zip(sources, rows, strict=True))

    return sorted(words, key=total, reverse=not lowest)[:2]


def digest(cue_set: CueSet) -> str:
    cues = [(s.ambiguous_word, s.sense, s.correct.cues, s.incorrect.cues) for s in cue_set.senses]
    return hashlib.sha256(json.dumps(cues, ensure_ascii=False).encode()).hexdigest()[:16]


def test_cues_equal_those_computed_by_hand() -> None:
    animal, club = built(n_cues=2).senses
    words = {animal: ["brown", "fruit", "vampire", "sleepy"], club: ["wooden", "heavy", "cricket"]}
    for sense, other in ((animal, club), (club, animal)):
        right, wrong = words[sense], words[other]
        assert list(sense.correct.cues) == by_hand(sense.sense, right, lowest=False)
        assert list(sense.incorrect.cues) == by_hand(sense.sense, wrong, lowest=True)
    assert (animal.n_examples, club.n_examples) == (3, 2)
    assert animal.correct.mean_scores[0] > animal.correct.mean_scores[1]
    assert animal.incorrect.mean_scores[0] < animal.incorrect.mean_scores[1]


def test_senses_without_cues_are_listed() -> None:
    built_cues = built()
    cooks = (LeftOut("cook", sense, 1, "no candidates") for sense in "ab")
    assert built_cues.left_out == (*cooks, LeftOut("doctor", "man", 1, "only sense"))
    zeros = dict.fromkeys(("n_unlocated", "n_short", "n_cut"), 0)
    assert built_cues.counts == {"n_examples": 5, "n_left_out": 3, "n_requests": 5 * 7, **zeros}
    assert [e.id for e in built_cues.examples] == ["x0", "x1", "x2", "x3", "x4"]
    assert built(n_cues=4).counts["n_short"] == 2


def test_candidates_of_a_sense_without_examples_count_as_incorrect() -> None:
    (sense,) = built([e for e in examples() if e.gold == "animal"]).senses
    assert (sense.sense, sense.candidates.incorrect) == ("animal", ("wooden", "heavy", "cricket"))


def test_rows_are_complete_rows_of_a_custom_dataset() -> None:
    built_cues = built()
    sense = built_cues.senses[1]
    cues = {"correct_cues": [*sense.correct.cues], "incorrect_cues": [*sense.incorrect.cues]}
    source = {"id": "x1", "source": "The bat number 1 and a bat.", "focus": "bat", "position": 4}
    extra = {"reference": "Satz 1.", "ambiguous_word": "bat", "category": "c", "gold": "club"}
    assert built_cues.rows()[1] == {**source, **cues, **extra, "src_lang": "en", "tgt_lang": "de"}
    for row in built_cues.rows():
        assert row["source"][row["position"] :].startswith(row["focus"])


def test_the_signature_states_candidates_evaluator_and_options(tmp_path: Path) -> None:
    path = write_text(tmp_path / "bats.json", candidates_json(_CANDIDATES))
    name, signed = signature.parse(built(candidates=path, words=["bat"], n_candidates=3).signature)
    assert name == "cues"
    digest_of_list = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
    expected = {
        "list": f"bats.json@{digest_of_list}",
        "eval": "function hash_scores",
        "data": "own",
        "words": "bat",
        "langs": "en-de",
        "candidates": "3",
        "cues": "3",
        "score": "own",
        "senses": "2",
        "n": "5",
    }
    assert expected.items() <= signed.items()


def test_order_and_block_size_do_not_change_cues(monkeypatch: pytest.MonkeyPatch) -> None:
    built_cues = built()
    shuffled = examples()
    random.Random(0).shuffle(shuffled)
    assert built(shuffled).senses == built_cues.senses
    monkeypatch.setattr("cc_hf.plugins.calibration.scoring._BLOCK", 1)
    counted = Mock(wraps=hash_scores, __name__="counted")
    assert built(evaluator=counted).senses == built_cues.senses
    assert [len(call.args[0]) for call in counted.mock_calls] == [21, 14]


_WINOMT = "row 0: expected gold .*, got no ambiguous_word, reference"
_BARE = example(8, "A bat.", "bat", "club", extra={"ambiguous_word": "bat"})


@cases(
    ({"candidates": None}, "masked_lm, candidates: expected one of the two, got neither"),
    ({"masked_lm": "x"}, "got both"),
    ({"n_cues": 0}, "n_cues: expected an integer of at least 1, got 0"),
    ({"n_candidates": 0}, "n_candidates: expected an integer of at least 1"),
    ({"score": "best"}, "score: expected one of"),
    ({"average": "median"}, "average: expected one of geometric, arithmetic"),
    ({"words": ["bat", "bank"]}, "such as bat, cook, doctor; got bank"),
    ({"words": "bat"}, "expected a list of ambiguous words"),
    ({"words": []}, "expected a list of ambiguous words"),
    ({"dataset": []}, "whose ambiguous word is located .*, got none among 0 examples"),
    ({"words": ["doctor"]}, "at least one ambiguous word with two.*got none among 1 senses"),
    ({"tgt_lang": "ru"}, "tgt_lang: expected one target language .*, got de, ru"),
    ({"dataset": [_BARE]}, r"row 0: expected gold .*, got no reference"),
    ({"dataset": [example(8, "A bat.", "bat", " ")]}, "row 0: expected gold .*, got no gold"),
    pytest.param({"dataset": "winomt"}, _WINOMT, marks=pytest.mark.shared),
)
def test_bad_input_is_refused(change: dict[str, Any], message: str, shared: Path) -> None:
    if change.get("dataset") == "winomt":
        change = {**change, "data_dir": shared / "upstream"}
    change = {"candidates": _CANDIDATES, "dataset": examples(), **change}
    refuses(message, built, change.pop("dataset"), **change)


@cases(
    ({"bank": {}}, "'bat' in the sense 'animal', got nothing for this word"),
    ({"bat": {"club": ["x"]}}, "got only other senses"),
)
def test_candidates_that_lack_a_word_or_a_sense_are_refused(candidates: Any, message: str) -> None:
    fails(DataError, message, built, candidates=candidates, words=["bat"])


def test_examples_for_all_languages_need_a_target_language() -> None:
    rows = [replace(e, tgt_lang="") for e in examples()]
    assert {row["tgt_lang"] for row in built(rows, tgt_lang="ru").rows()} == {"ru"}
    refuses("got none", built, rows)


def test_cues_are_compared_by_id_or_by_line() -> None:
    built_cues = built([replace(e, id=e.id.removeprefix("x")) for e in examples()], n_cues=1)
    (best,), (worst,) = built_cues.senses[0].correct.cues, built_cues.senses[0].incorrect.cues
    sides = ([best, "brown" if best != "brown" else "fruit"], ["nothing"]), *[([], [])] * 7
    names = "correct_insertions", "incorrect_insertions"
    lines = [json.dumps(dict(zip(names, pair, strict=True))) for pair in sides]
    assert {
        side: (overlap.n_chosen, overlap.n_expected, overlap.n_by_chance)
        for side, overlap in compare_cues(built_cues, lines).items()
    } == {"correct": (1, 2, 0.5), "incorrect": (0, 1, 0)}
    reversed_lines = [json.dumps(row) for row in reversed(built_cues.rows())]
    for overlap in compare_cues(built_cues, reversed_lines).values():
        assert (overlap.n_chosen, overlap.n_expected) == (2, 2)
    message = r"c\.jsonl: line 2: .*expected a (JSON object|list)"
    for bad in ("[]", "{", '{"correct_cues": []}', '{"correct_cues": 3, "incorrect_cues": []}'):
        fails(DataError, message, compare_cues, built_cues, [lines[0], bad], name="c.jsonl")
    other = json.dumps({**built_cues.rows()[0], "id": "other"})
    fails(DataError, "rows of the same examples, got none", compare_cues, built_cues, [other])
    assert worst in {"wooden", "heavy", "cricket"}


@pytest.fixture(scope="module")
def masked_lm(tmp_path_factory: pytest.TempPathFactory) -> MaskedLM:
    more = "The brown fruit vampire bat sleeps. A heavy wooden cricket bat breaks."
    texts = *(e.source for e in examples()), more, "The good old cook and the bad doctor met."
    folder = save_tiny_masked_lm(tmp_path_factory.mktemp("mlm"), texts * 3)
    return load_masked_lm(folder, device="cpu")


def test_predicted_candidates_are_written_and_read(masked_lm: MaskedLM, tmp_path: Path) -> None:
    built_cues = built(masked_lm=masked_lm, n_kept=6, n_cues=1)
    senses = {word: list(candidates) for word, candidates in built_cues.candidates.items()}
    assert senses == {"bat": ["animal", "club"], "cook": ["a", "b"], "doctor": ["man"]}
    rows = [e for e in examples() if e.gold == "animal"]
    masked = masked_lm.mask([e.source for e in rows], [e.focus.start for e in rows])
    mean = sum(dict(masked_lm.word_logprobs(masked)).values()) / 3
    expected = [masked_lm.words[i] for i in np.argsort(-mean)[:6]]
    assert list(built_cues.candidates["bat"]["animal"]) == expected
    signed = {"mlm": masked_lm.signature_name, "avg": "geometric", "kept": "6"}
    assert signed.items() <= signature.parse(built_cues.signature)[1].items()
    path = write_text(tmp_path / "c.json", candidates_json(built_cues.candidates))
    again = built(candidates=path, n_cues=1)
    assert (again.senses, again.left_out) == (built_cues.senses, built_cues.left_out)
    assert built_cues.senses


def test_the_option_average_changes_the_candidates(masked_lm: MaskedLM) -> None:
    geometric, arithmetic = (
        built(masked_lm=masked_lm, n_kept=20, average=average).candidates["bat"]
        for average in ("geometric", "arithmetic")
    )
    assert geometric != arithmetic
    assert set(geometric["animal"]) & set(arithmetic["animal"])


def test_sources_cut_for_the_masked_lm_are_counted(tmp_path: Path) -> None:
    long = example(9, f"The {'very ' * 40}big bat flies.", "bat", "animal")
    folder = save_tiny_masked_lm(tmp_path, [e.source for e in examples()] * 3, max_tokens=24)
    assert built([*examples(), long], masked_lm=folder, n_kept=4).counts["n_cut"] == 1


def test_errors_name_the_row_of_the_dataset(masked_lm: MaskedLM) -> None:
    rows = [*reversed(examples()), example(8, "A <mask> bat.", "bat", "club")]
    refuses("row 8: the source holds '<mask>'", built, rows, masked_lm=masked_lm, words=["bat"])

    def bad(sources: Sequence[str], translations: Sequence[str]) -> list[float]:
        return [-1.0 if "Satz 2." in translation else 1.0 for translation in translations]

    fails(EvaluatorError, r"row 5: .*returned -1\.0", built, rows[:8], evaluator=bad, words=["bat"])


def test_too_long_references_are_refused_naming_their_row() -> None:
    rows = examples()[:4]
    rows[2] = replace(rows[2], extra={**rows[2].extra, "reference": "Satz " * 300})
    fails(TooLongError, "row 2: the translation has", built, rows, evaluator=None)
    cut = built(rows, evaluator=None, loading=LoadingOptions(on_too_long="truncate"))
    assert signature.parse(cut.signature)[1]["toolong"] == "truncate"


def test_a_file_of_words_becomes_a_contrastive_dataset(tmp_path: Path) -> None:
    """The workflow for user data: words and references, then cues, then a dataset for judging
    translations.
    """

    bats = examples()[:5]
    common = {"tgt_lang": "de", "ambiguous_word": "bat"}
    words = [
        {"id": e.id, "source": e.source, "position": e.focus.start, "gold": e.gold, **common}
        | {"reference": e.extra["reference"]}
        for e in bats
    ]
    built_cues = built(write_jsonl(tmp_path / "words.jsonl", words))
    assert built_cues.senses == built(bats).senses
    assert signature.parse(built_cues.signature)[1]["data"].startswith("custom/words@")
    read = cc_hf.load_examples(str(write_jsonl(tmp_path / "cues.jsonl", built_cues.rows())))
    named = attrgetter("id", "source", "focus", "gold")
    for e, expected in zip(read, bats, strict=True):
        assert named(e) == named(expected)
        assert e.extra["reference"] == expected.extra["reference"]
    cue = built_cues.senses[1].correct.cues[0]
    assert read[1].correct_sources[0] == f"The {cue} bat number 1 and a bat."


def test_words_not_found_in_their_source_are_counted() -> None:
    extra = {"ambiguous_word": "bat", "reference": "Satz."}
    common = "en", "de", "A bat.", "c", "club"
    located = [None, Focus("bat", 2), Focus("bat", 2)]
    rows = [ProbingExample(str(i), *common, focus, extra) for i, focus in enumerate(located)]
    built_cues = built(rows)
    assert (built_cues.counts["n_unlocated"], [e.id for e in built_cues.examples]) == (
        1,
        ["1", "2"],
    )
    refuses("got none among 1 examples", built, rows[:1])


def test_cues_for_mucow_are_built_from_masked_lm_to_dataset(shared: Path, tmp_path: Path) -> None:
    words = ["relay", "slug", "snake"]
    mucow = cc_hf.load_examples("mucow", "en-de", data_dir=shared / "upstream")
    rows = [e for e in mucow if e.extra["ambiguous_word"] in words]
    lm = save_tiny_masked_lm(tmp_path, [e.source for e in rows], vocab_size=700)
    choice = CueChoice(words=words, n_kept=12, n_candidates=3, n_cues=2)
    actual = build_cues("mucow", "en-de", data_dir=shared / "upstream", masked_lm=lm, choice=choice)
    known = Counter(s.ambiguous_word for s in actual.senses)
    known.update(s.ambiguous_word for s in actual.left_out)
    assert known == dict.fromkeys(words, 2)
    assert len(actual.rows()) + actual.counts["n_left_out"] == len(rows)
    assert len(actual.senses) > 3
    for s in actual.senses:
        candidates = set(s.candidates.correct)
        assert set(s.correct.cues) <= candidates
        assert candidates <= set(actual.candidates[s.ambiguous_word][s.sense])
        assert not candidates & set(s.candidates.incorrect)
    signed = signature.parse(actual.signature)[1]
    assert signed["data"].startswith("mucow/en-de@")
    assert signed["eval"].startswith("cc-tiny-en-de@")
    shuffled = rows[:]
    random.Random(1).shuffle(shuffled)
    assert build_cues(shuffled, masked_lm=lm, choice=choice).senses == actual.senses


def test_published_candidates_and_a_fixed_evaluator_give_the_recorded_cues(shared: Path) -> None:
    upstream = shared / "upstream"
    folder = upstream / "ZurichNLP/contrastive-conditioning/tasks/data/mucow/disambiguation_cues"
    candidates = folder / "en-de.insertion_candidates.roberta-large.json"
    actual = build_cues(
        "mucow", "en-de", data_dir=upstream, candidates=candidates, evaluator=hash_scores
    )
    assert (len(actual.senses), actual.left_out) == (362, ())
    assert {"n_examples": 3334, "n_short": 0}.items() <= actual.counts.items()
    first = actual.senses[0]
    assert (first.ambiguous_word, first.sense) == ("accelerator", "gaspedal")
    assert first.correct.cues == ("brake", "front", "clutch")
    assert first.incorrect.cues == ("linear", "ion", "particle")
    assert digest(actual) == "ee0c1436e0abf3a7"
