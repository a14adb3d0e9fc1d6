from __future__ import annotations

import hashlib
import json
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cc_hf
from cc_hf import signature
from cc_hf.cue_building.build import CueChoice, build_cues
from cc_hf.cue_building.fill_mask import MaskedLM, load_masked_lm
from cc_hf.cues.cue_set import CueSet, LeftOut, compare_cues
from cc_hf.cues.mlm_insertions import candidates_json
from cc_hf.errors import DataError, EvaluatorError, InputError, TooLongError
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.schema import ContrastiveSourceExample, Focus, ProbingExample
from tests.helpers.cases import cases_by_message
from tests.helpers.fake_evaluator import hash_score, hash_scores
from tests.helpers.models import save_tiny_masked_lm

_CANDIDATES = {
    "bat": {
        "animal": ["brown", "fruit", "vampire", "sleepy", "big"],
        "club": ["wooden", "big", "heavy", "cricket"],
    },
    "doctor": {"man": ["old"]},
    "cook": {"a": ["good"], "b": ["good", "bad"]},
}


def example(
    number: int, source: str, word: str, sense: str, **change: Any
) -> ContrastiveSourceExample:
    fields: dict[str, Any] = {
        "id": f"x{number}",
        "src_lang": "en",
        "tgt_lang": "de",
        "source": source,
        "focus": Focus(word, source.index(word)),
        "correct_sources": ("-",),
        "incorrect_sources": ("-",),
        "category": "c",
        "gold": sense,
        "extra": {"ambiguous_word": word, "reference": f"Satz {number}."},
    }
    return ContrastiveSourceExample(**{**fields, **change})


def examples() -> list[ContrastiveSourceExample]:
    senses = ["animal", "club", "animal", "club", "animal"]
    bats = [
        example(i, f"The bat number {i} and a bat.", "bat", sense) for i, sense in enumerate(senses)
    ]
    return [
        *bats,
        example(5, "The doctor left.", "doctor", "man"),
        example(6, "The cook met a cook.", "cook", "a"),
        example(7, "A cook.", "cook", "b"),
    ]


def by_hand(sense: str, words: Sequence[str], *, lowest: bool) -> list[str]:
    rows = [e for e in examples() if e.gold == sense]
    means = {
        w: (
            sum(
                hash_score(f"The {w} {e.source.removeprefix('The ')}", e.extra["reference"])
                for e in rows
            )
            / len(rows)
        )
        for w in words
    }
    return sorted(words, key=lambda w: means[w] if lowest else -means[w])[:2]


def digest(found: CueSet) -> str:
    cues = [(s.ambiguous_word, s.sense, s.correct.cues, s.incorrect.cues) for s in found.senses]
    return hashlib.sha256(json.dumps(cues, ensure_ascii=False).encode()).hexdigest()[:16]


def test_cues_equal_those_computed_by_hand() -> None:
    found = build_cues(
        examples(), candidates=_CANDIDATES, evaluator=hash_scores, choice=CueChoice(n_cues=2)
    )
    animal, club = found.senses
    own, other = ["brown", "fruit", "vampire", "sleepy"], ["wooden", "heavy", "cricket"]
    assert (list(animal.correct.cues), list(animal.incorrect.cues)) == (
        by_hand("animal", own, lowest=False),
        by_hand("animal", other, lowest=True),
    )
    assert (list(club.correct.cues), list(club.incorrect.cues)) == (
        by_hand("club", other, lowest=False),
        by_hand("club", own, lowest=True),
    )
    assert (animal.n_examples, club.n_examples) == (3, 2)
    assert animal.correct.mean_scores[0] > animal.correct.mean_scores[1]
    assert animal.incorrect.mean_scores[0] < animal.incorrect.mean_scores[1]


def test_senses_without_cues_are_listed() -> None:
    found = build_cues(examples(), candidates=_CANDIDATES, evaluator=hash_scores)
    assert found.left_out == (
        LeftOut("cook", "a", 1, "no candidates"),
        LeftOut("cook", "b", 1, "no candidates"),
        LeftOut("doctor", "man", 1, "only sense"),
    )
    assert found.counts == {
        "n_examples": 5,
        "n_left_out": 3,
        "n_unlocated": 0,
        "n_short": 0,
        "n_requests": 5 * 7,
        "n_cut": 0,
    }
    assert [e.id for e in found.examples] == ["x0", "x1", "x2", "x3", "x4"]
    assert (
        build_cues(
            examples(), candidates=_CANDIDATES, evaluator=hash_scores, choice=CueChoice(n_cues=4)
        ).counts["n_short"]
        == 2
    )


def test_candidates_of_a_sense_without_examples_count_as_incorrect() -> None:
    found = build_cues(
        [e for e in examples() if e.gold == "animal"], candidates=_CANDIDATES, evaluator=hash_scores
    )
    assert [(s.sense, s.candidates.incorrect) for s in found.senses] == [
        ("animal", ("wooden", "heavy", "cricket"))
    ]


def test_rows_are_complete_rows_of_a_custom_dataset() -> None:
    found = build_cues(examples(), candidates=_CANDIDATES, evaluator=hash_scores)
    row = found.rows()[1]
    assert row == {
        "id": "x1",
        "source": "The bat number 1 and a bat.",
        "focus": "bat",
        "position": 4,
        "correct_cues": list(found.senses[1].correct.cues),
        "incorrect_cues": list(found.senses[1].incorrect.cues),
        "category": "c",
        "gold": "club",
        "src_lang": "en",
        "tgt_lang": "de",
        "reference": "Satz 1.",
        "ambiguous_word": "bat",
    }
    assert all(
        isinstance(r["correct_cues"], list) and r["source"][r["position"] :].startswith(r["focus"])
        for r in found.rows()
    )


def test_the_signature_states_candidates_evaluator_and_options(tmp_path: Path) -> None:
    path = tmp_path / "bats.json"
    path.write_text(candidates_json(_CANDIDATES), encoding="utf-8")
    found = build_cues(
        examples(),
        candidates=path,
        evaluator=hash_scores,
        choice=CueChoice(words=["bat"], n_candidates=3),
    )
    name, fields = signature.parse(found.signature)
    assert name == "cues"
    assert fields["list"] == f"bats.json@{hashlib.sha256(path.read_bytes()).hexdigest()[:12]}"
    expected = {
        "data": "own",
        "words": "bat",
        "langs": "en-de",
        "candidates": "3",
        "cues": "3",
        "eval": "function hash_scores",
        "score": "own",
        "senses": "2",
        "n": "5",
    }
    assert {key: fields[key] for key in expected} == expected


def test_the_order_of_examples_and_the_block_size_do_not_change_cues(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = build_cues(examples(), candidates=_CANDIDATES, evaluator=hash_scores)
    shuffled = examples()
    random.Random(0).shuffle(shuffled)
    assert (
        build_cues(shuffled, candidates=_CANDIDATES, evaluator=hash_scores).senses == found.senses
    )
    monkeypatch.setattr("cc_hf.cue_building.scoring._BLOCK", 1)
    calls: list[int] = []

    def counted(sources: Sequence[str], translations: Sequence[str]) -> list[float]:
        calls.append(len(sources))
        return hash_scores(sources, translations)

    assert build_cues(examples(), candidates=_CANDIDATES, evaluator=counted).senses == found.senses
    assert calls == [21, 14]


@cases_by_message(
    ("change", "message"),
    [
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
        (
            {
                "dataset": [
                    *examples(),
                    example(8, "A bat.", "bat", "club", extra={"ambiguous_word": "bat"}),
                ]
            },
            r"row 8: expected gold .*, got no reference",
        ),
        ({"dataset": [example(8, "A bat.", "bat", " ")]}, "row 0: expected gold .*, got no gold"),
        pytest.param(
            {"dataset": "winomt"},
            "row 0: expected gold .*, got no ambiguous_word, reference",
            marks=pytest.mark.shared,
        ),
    ],
)
def test_bad_input_is_refused(change: dict[str, Any], message: str, shared: Path) -> None:
    if change.get("dataset") == "winomt":
        change = {**change, "data_dir": shared / "upstream"}
    of_choice = {field.name for field in fields(CueChoice)}
    options: dict[str, Any] = {
        "dataset": examples(),
        "candidates": _CANDIDATES,
        "evaluator": hash_scores,
        **{name: value for name, value in change.items() if name not in of_choice},
    }
    chosen = {name: value for name, value in change.items() if name in of_choice}
    with pytest.raises(InputError, match=message):
        build_cues(options.pop("dataset"), **options, choice=CueChoice(**chosen))


def test_candidates_that_lack_a_word_or_a_sense_are_refused() -> None:
    for candidates, message in (
        ({"bank": {}}, "'bat' in the sense 'animal', got nothing for this word"),
        ({"bat": {"club": ["x"]}}, "got only other senses"),
    ):
        with pytest.raises(DataError, match=message):
            build_cues(
                examples(),
                candidates=candidates,
                evaluator=hash_scores,
                choice=CueChoice(words=["bat"]),
            )


def test_examples_for_all_languages_need_a_target_language() -> None:
    rows = [replace(e, tgt_lang="") for e in examples()]
    found = build_cues(rows, candidates=_CANDIDATES, evaluator=hash_scores, tgt_lang="ru")
    assert {row["tgt_lang"] for row in found.rows()} == {"ru"}
    with pytest.raises(InputError, match="got none"):
        build_cues(rows, candidates=_CANDIDATES, evaluator=hash_scores)


def test_cues_are_compared_by_id_or_by_line() -> None:
    found = build_cues(
        [replace(e, id=e.id.removeprefix("x")) for e in examples()],
        candidates=_CANDIDATES,
        evaluator=hash_scores,
        choice=CueChoice(n_cues=1),
    )
    (best,), (worst,) = found.senses[0].correct.cues, found.senses[0].incorrect.cues
    published = {
        "correct_insertions": [best, "brown" if best != "brown" else "fruit"],
        "incorrect_insertions": ["nothing"],
    }
    lines = [json.dumps(published)] + ['{"correct_insertions": [], "incorrect_insertions": []}'] * 7
    compared = compare_cues(found, lines)
    assert (
        compared["correct"].n_chosen,
        compared["correct"].n_expected,
        compared["correct"].n_by_chance,
    ) == (1, 2, 0.5)
    assert (
        compared["incorrect"].n_chosen,
        compared["incorrect"].n_expected,
        compared["incorrect"].n_by_chance,
    ) == (0, 1, 0)
    own = [json.dumps(row) for row in reversed(found.rows())]
    assert {side: (o.n_chosen, o.n_expected) for side, o in compare_cues(found, own).items()} == {
        "correct": (2, 2),
        "incorrect": (2, 2),
    }
    for bad in ("[]", "{", '{"correct_cues": []}', '{"correct_cues": 3, "incorrect_cues": []}'):
        with pytest.raises(DataError, match=r"c\.jsonl: line 2: .*expected a (JSON object|list)"):
            compare_cues(found, [lines[0], bad], name="c.jsonl")
    with pytest.raises(DataError, match="rows of the same examples, got none"):
        compare_cues(found, [json.dumps({**found.rows()[0], "id": "other"})])
    assert worst in {"wooden", "heavy", "cricket"}


@pytest.fixture(scope="module")
def masked_lm(tmp_path_factory: pytest.TempPathFactory) -> MaskedLM:
    texts = [
        *(e.source for e in examples()),
        (
            "The brown fruit vampire bat sleeps. A heavy wooden cricket bat breaks. The good old"
            " cook and the bad doctor met."
        ),
    ]
    return load_masked_lm(
        save_tiny_masked_lm(tmp_path_factory.mktemp("mlm"), texts * 3), device="cpu"
    )


def test_predicted_candidates_can_be_written_and_read_back(
    masked_lm: MaskedLM, tmp_path: Path
) -> None:
    found = build_cues(
        examples(), masked_lm=masked_lm, evaluator=hash_scores, choice=CueChoice(n_kept=6, n_cues=1)
    )
    assert {word: list(senses) for word, senses in found.candidates.items()} == {
        "bat": ["animal", "club"],
        "cook": ["a", "b"],
        "doctor": ["man"],
    }
    rows = [e for e in examples() if e.gold == "animal"]
    predicted = dict(
        masked_lm.word_logprobs(
            masked_lm.mask([e.source for e in rows], [e.focus.start for e in rows])
        )
    )
    mean = sum(predicted.values()) / 3
    assert list(found.candidates["bat"]["animal"]) == [
        masked_lm.words[i] for i in np.argsort(-mean)[:6]
    ]
    fields = signature.parse(found.signature)[1]
    assert (fields["mlm"], fields["avg"], fields["kept"]) == (
        masked_lm.signature_name,
        "geometric",
        "6",
    )
    (tmp_path / "c.json").write_text(candidates_json(found.candidates), encoding="utf-8")
    again = build_cues(
        examples(),
        candidates=tmp_path / "c.json",
        evaluator=hash_scores,
        choice=CueChoice(n_cues=1),
    )
    assert (again.senses, again.left_out) == (found.senses, found.left_out)
    assert found.senses


def test_the_option_average_changes_the_candidates(masked_lm: MaskedLM) -> None:
    geometric, arithmetic = (
        build_cues(
            examples(),
            masked_lm=masked_lm,
            evaluator=hash_scores,
            choice=CueChoice(n_kept=20, average=a),
        ).candidates["bat"]
        for a in ("geometric", "arithmetic")
    )
    assert geometric != arithmetic
    assert set(geometric["animal"]) & set(arithmetic["animal"])


def test_sources_cut_for_the_masked_lm_are_counted(tmp_path: Path) -> None:
    long = example(9, f"The {'very ' * 40}big bat flies.", "bat", "animal")
    lm = load_masked_lm(
        save_tiny_masked_lm(tmp_path, [e.source for e in examples()] * 3, max_tokens=24),
        device="cpu",
    )
    found = build_cues(
        [*examples(), long], masked_lm=lm, evaluator=hash_scores, choice=CueChoice(n_kept=4)
    )
    assert found.counts["n_cut"] == 1


def test_errors_name_the_row_of_the_dataset(masked_lm: MaskedLM) -> None:
    rows = [*reversed(examples()), example(8, "A <mask> bat.", "bat", "club")]
    with pytest.raises(InputError, match="row 8: the source holds '<mask>'"):
        build_cues(
            rows, masked_lm=masked_lm, evaluator=hash_scores, choice=CueChoice(words=["bat"])
        )

    def negative(sources: Sequence[str], translations: Sequence[str]) -> list[float]:
        return [-1.0 if "Satz 2." in translation else 1.0 for translation in translations]

    with pytest.raises(EvaluatorError, match=r"row 5: .* returned -1\.0"):
        build_cues(
            rows[:8], candidates=_CANDIDATES, evaluator=negative, choice=CueChoice(words=["bat"])
        )


def test_too_long_references_are_refused_naming_their_row() -> None:
    rows = examples()[:4]
    rows[2] = replace(rows[2], extra={**rows[2].extra, "reference": "Satz " * 300})
    with pytest.raises(TooLongError, match="row 2: the translation has"):
        build_cues(rows, candidates=_CANDIDATES)
    cut = build_cues(rows, candidates=_CANDIDATES, loading=LoadingOptions(on_too_long="truncate"))
    assert signature.parse(cut.signature)[1]["toolong"] == "truncate"


def test_a_file_of_words_becomes_a_contrastive_dataset(tmp_path: Path) -> None:
    """The workflow for user data: words and references, then cues, then a dataset for judging
    translations.
    """
    words = [
        {
            "id": e.id,
            "source": e.source,
            "position": e.focus.start,
            "gold": e.gold,
            "reference": e.extra["reference"],
            "tgt_lang": "de",
            "ambiguous_word": "bat",
        }
        for e in examples()[:5]
    ]
    (tmp_path / "words.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in words), encoding="utf-8"
    )
    found = build_cues(tmp_path / "words.jsonl", candidates=_CANDIDATES, evaluator=hash_scores)
    assert (
        found.senses
        == build_cues(examples()[:5], candidates=_CANDIDATES, evaluator=hash_scores).senses
    )
    assert signature.parse(found.signature)[1]["data"].startswith("custom/words@")
    (tmp_path / "cues.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in found.rows()), encoding="utf-8"
    )
    read = cc_hf.load_examples(str(tmp_path / "cues.jsonl"))
    assert [(e.id, e.source, e.focus, e.gold, e.extra["reference"]) for e in read] == [
        (e.id, e.source, e.focus, e.gold, e.extra["reference"]) for e in examples()[:5]
    ]
    assert (
        read[1].correct_sources[0]
        == f"The {found.senses[1].correct.cues[0]} bat number 1 and a bat."
    )


def test_words_not_found_in_their_source_are_counted() -> None:
    rows = [
        ProbingExample(
            str(i),
            "en",
            "de",
            "A bat.",
            "c",
            "club",
            Focus("bat", 2) if i else None,
            {"ambiguous_word": "bat", "reference": "Satz."},
        )
        for i in range(3)
    ]
    found = build_cues(rows, candidates=_CANDIDATES, evaluator=hash_scores)
    assert (found.counts["n_unlocated"], [e.id for e in found.examples]) == (1, ["1", "2"])
    with pytest.raises(InputError, match="got none among 1 examples"):
        build_cues(rows[:1], candidates=_CANDIDATES, evaluator=hash_scores)


@pytest.mark.shared
def test_cues_for_mucow_are_built_from_masked_lm_to_dataset(shared: Path, tmp_path: Path) -> None:
    words = ["relay", "slug", "snake"]
    rows = [
        e
        for e in cc_hf.load_examples("mucow", "en-de", data_dir=shared / "upstream")
        if e.extra["ambiguous_word"] in words
    ]
    lm = save_tiny_masked_lm(tmp_path, [e.source for e in rows], vocab_size=700)
    choice = CueChoice(words=words, n_kept=12, n_candidates=3, n_cues=2)
    found = build_cues("mucow", "en-de", data_dir=shared / "upstream", masked_lm=lm, choice=choice)
    assert Counter(s.ambiguous_word for s in found.senses) + Counter(
        s.ambiguous_word for s in found.left_out
    ) == dict.fromkeys(words, 2)
    assert len(found.rows()) + found.counts["n_left_out"] == len(rows)
    assert len(found.senses) > 3
    for s in found.senses:
        assert (
            set(s.correct.cues)
            <= set(s.candidates.correct)
            <= set(found.candidates[s.ambiguous_word][s.sense])
        )
        assert not set(s.candidates.correct) & set(s.candidates.incorrect)
    signed = signature.parse(found.signature)[1]
    assert signed["data"].startswith("mucow/en-de@")
    assert signed["eval"].startswith("cc-tiny-en-de@")
    shuffled = rows[:]
    random.Random(1).shuffle(shuffled)
    assert build_cues(shuffled, masked_lm=lm, choice=choice).senses == found.senses


@pytest.mark.shared
def test_published_candidates_and_a_fixed_evaluator_give_the_recorded_cues(shared: Path) -> None:
    folder = (
        shared / "upstream/ZurichNLP/contrastive-conditioning/tasks/data/mucow/disambiguation_cues"
    )
    found = build_cues(
        "mucow",
        "en-de",
        candidates=folder / "en-de.insertion_candidates.roberta-large.json",
        evaluator=hash_scores,
        data_dir=shared / "upstream",
    )
    assert (
        len(found.senses),
        found.left_out,
        found.counts["n_examples"],
        found.counts["n_short"],
    ) == (362, (), 3334, 0)
    first = found.senses[0]
    assert (first.ambiguous_word, first.sense, first.correct.cues, first.incorrect.cues) == (
        "accelerator",
        "gaspedal",
        ("brake", "front", "clutch"),
        ("linear", "ion", "particle"),
    )
    assert digest(found) == "ee0c1436e0abf3a7"
