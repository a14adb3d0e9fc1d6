"""Data in the manner of MT-GenEval, and training pairs (Currey et al. 2022, sections 2 and 5.3)."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from cc_hf_studies.mt_geneval import construction
from cc_hf_studies.mt_geneval.training_pairs import contextual_pairs, self_training_pairs

from cc_hf.data.loading import load_examples
from cc_hf.reading import text_lines
from cc_hf.schema import Judgement
from tests.helpers.usual import (
    cases,
    contrastive,
    printed_by,
    read_json,
    read_jsonl,
    refuses,
    result_of,
    write_lines,
)


@cases(
    ("HE saw the King's son.", "male", "SHE saw the Queen's daughter."),
    ("She gave the host her word.", "female", "He gave the host his word."),
    ("The countess saw herself.", "female", "The count saw himself."),
    ("The host saw himself.", "male", "The host saw herself."),
    ("Lady Loftus is a lady.", "female", "Lord Loftus is a gentleman."),
    ("The lords met.", "male", "The ladies met."),
    ("It's the policewomen’s car.", "female", "It's the policemen’s car."),
    ("We count on them.", "", None),
    ("He met her mother.", "both", None),
)
def test_gendered_words_are_exchanged(text: str, gender: str, other: str | None) -> None:
    assert construction.gender_of(text) == gender
    if other is not None:
        assert construction.counterfactual(text) == other
        return
    refuses("expected gendered words of one gender, got", construction.counterfactual, text)


@cases(
    ("dev", {"female": (1200, 1167, 996), "male": (1200, 1151, 979)}),
    ("test", {"female": (300, 288, 228), "male": (300, 275, 213)}),
)
def test_people_often_agree(split: str, expected: dict[str, tuple[int, ...]], shared: Path) -> None:
    """Sentences, those whose gender is seen, and those that end as people wrote them."""
    path = shared / "upstream"
    counts: dict[str, Counter[str]] = {gender: Counter() for gender in expected}
    for row in load_examples("mt_geneval", "counterfactual_de", split=split, data_dir=path):
        (source,), (other,) = row.correct_sources, row.incorrect_sources
        is_seen = construction.gender_of(source) == row.category
        is_equal = is_seen and construction.counterfactual(source) == other
        counts[row.category].update(n=1, seen=is_seen, equal=is_equal)
    assert {g: tuple(counts[g].values()) for g in expected} == expected


def test_sentences_with_names_are_left_out() -> None:
    texts = ["Today we saw Ann and he left.", "He met them today.", "We met. ", "We met."]
    made = construction.counterfactual_rows(texts)
    assert [row["id"] for row in made.rows] == ["0.male", "0.female"]
    counts = {"n_sentences": 3, "n_rows": 2, "n_no_gender": 1, "n_both_genders": 0, "n_names": 1}
    assert dict(made.counts) == counts
    assert len(construction.counterfactual_rows(texts, names=["bob"]).rows) == 4
    assert construction.counterfactual_rows(texts, names=["ANN"]).rows == made.rows


def test_sub_categories_can_be_equally_frequent() -> None:
    texts = [[f"we saw {who}.", f"the {job} left."] for who in ("her", "him") for job in "ab"]
    of = {"a": "neutral", "b": "male"}
    texts *= 2
    made = construction.contextual_rows(texts, of, names=[], n=1)
    expected = "male_stereotyped/female male_stereotyped/male neutral/female neutral/male"
    assert " ".join(row["category"] for row in made.rows) == expected
    assert made.rows == construction.contextual_rows(texts, of, names=[], n=1).rows
    refuses(
        "expected at most 2, the rows of male_stereotyped/female",
        construction.contextual_rows,
        texts,
        of,
        names=[],
        n=3,
    )
    texts = [["He and she.", "the a and b left.", "the a left."]]
    assert not construction.contextual_rows(texts, of, names=[]).rows


def test_professions_have_the_stereotypes_of_winomt(shared: Path) -> None:
    rows = load_examples("winomt", "pro", data_dir=shared / "upstream")
    in_winomt = {row.extra["occupation"].lower(): row.gold for row in rows}
    assert len(in_winomt) == 40
    of = construction.professions()
    assert {name: of.get(name) for name in in_winomt} == in_winomt
    assert {of[name] for name in of.keys() - in_winomt.keys()} == {"neutral"}


def test_professions_are_checked(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "p.tsv", ["profession\tstereotype", "nurse\tfeminine"])
    refuses(r"p.tsv: line 2: .* got 'nurse' and 'feminine'", construction.professions, path)


@pytest.mark.parametrize("targets", [[["A."]], [["A.", "B."], ["C."]]])
def test_documents_must_be_parallel(targets: Sequence[Sequence[str]]) -> None:
    refuses(
        r"document [12]: expected as many sentences in both",
        list,
        contextual_pairs([["a.", "b."]], targets),
    )


def test_correct_translations_are_kept_in_equal_numbers() -> None:
    judgements = [
        Judgement(f"{g}{i}", g, v == "1", f"t{g}{i}", "correct" if v == "1" else "incorrect")
        for g, row in {"male": "110", "female": "1000"}.items()
        for i, v in enumerate(row)
    ]
    examples = [contrastive(j.example_id, f"s{j.example_id}", "y") for j in judgements]
    pairs = self_training_pairs(result_of(judgements), examples)
    assert (pairs[0][1], len(pairs)) == ("tfemale0", 2)
    assert all(source[1:] == target[1:] for source, target in pairs)
    refuses(
        "got none of female",
        self_training_pairs,
        result_of(judgements[:3] + judgements[4:]),
        examples,
    )
    refuses("got one of 'male0'", self_training_pairs, result_of(judgements), examples[1:])


def test_the_commands_lead_from_text_to_training_pairs(tmp_path: Path) -> None:
    lines = ["We think he saw the king.", "The nurse was late.", "", "Then they met the women."]
    text = write_lines(tmp_path / "t.en", lines)
    names = write_lines(tmp_path / "names", ["Ann"])
    command = f"study mt_geneval build {text} --names {names}"
    printed = printed_by(f"{command} -o {tmp_path}/rows.jsonl")
    assert "sentences: 3, rows: 4, no_gender: 1" in " ".join(printed.split())
    printed_by(f"{command} --contextual -o {tmp_path}/context.jsonl")
    (row,) = read_jsonl(tmp_path / "context.jsonl")
    assert (row["source"], row["gold"]) == ("The nurse was late.", "male")
    result = tmp_path / "r.json"
    system = "--system cc-tiny-en-de --num-beams 1 --cache no"
    printed_by(f"evaluate {tmp_path}/rows.jsonl -l en-de {system} -o {result} -q")
    judged = read_json(result)["judgements"]
    n_right = Counter(j["category"] for j in judged if j["verdict"] == "correct")
    files = [tmp_path / "s.en", tmp_path / "s.de"]
    written = f"--sources {files[0]} --targets {files[1]}"
    printed_by(f"study mt_geneval self-training {result} --dataset {tmp_path}/rows.jsonl {written}")
    assert [len(text_lines(path)) for path in files] == [2 * min(n_right.values())] * 2
    printed_by(f"study mt_geneval context-pairs {text} {text} {written} --separator =")
    assert text_lines(files[1]) == ["We think he saw the king. = The nurse was late."]
