from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import pytest

import cc_hf
from cc_hf.errors import InputError
from cc_hf.evaluators.loading import load_evaluator
from cc_hf.schema import ContrastiveTranslationExample
from cc_hf.studies.wino_x.debias import debias
from cc_hf.studies.wino_x.make import (
    AFTER_TRANSLATION,
    PRONOUNS,
    MadeWinoX,
    TargetLanguage,
    gap_sources,
    make_wino_x,
)
from cc_hf.studies.wino_x.noun_genders import noun_genders
from cc_hf.studies.wino_x.splits import SplitPlan
from cc_hf.studies.wino_x.suitability import Candidate
from cc_hf.text.alignment import Alignment
from tests.helpers.wino_x_schemas import NOUNS
from tests.studies.wino_x.winogrande_rows import german, hit_schemas, write_rows


@dataclass(frozen=True)
class WordAligner:
    """Links words by a small dictionary."""

    words: Mapping[str, Sequence[str]]
    signature_name: str = "words"

    def align(self, sources: Sequence[str], translations: Sequence[str]) -> list[Alignment]:
        return [
            tuple(
                (i, j)
                for i, word in enumerate(source.split())
                for j, other in enumerate(translation.split())
                if other in self.words.get(word, ())
            )
            for source, translation in zip(sources, translations, strict=True)
        ]


_FILLED = "He took the {0}, not the {1}, as the _ was {2}."


def _candidates(first: str, second: str) -> list[Candidate]:
    return [
        Candidate(
            f"s-{answer}",
            "s",
            context := _FILLED.replace("the _", "_").format(first, second, word),
            context.replace("_", "it"),
            (first, second),
            answer,
        )
        for answer, word in ((1, "old"), (2, "new"))
    ]


def _made(
    lang: str,
    nouns: tuple[str, str],
    words: Mapping[str, Sequence[str]],
    translations: Sequence[str],
    *,
    known: dict[str, str] | None = None,
    pronouns: dict[str, str] | None = None,
) -> MadeWinoX:
    target = TargetLanguage(
        lang, noun_genders(lang, known), pronouns or PRONOUNS[lang], agreement=lang != "de"
    )
    return make_wino_x(_candidates(*nouns), translations, target, aligner=WordAligner(words))


_SUITCASE = {"case": ("koffer",), "vase": ("vase",)}


def _german(*fillers: str) -> list[str]:
    start = "Er nahm den Koffer, nicht die Vase, weil"
    return [f"{start} {filler} {word} war." for word in ("alt", "neu") for filler in fillers]


def test_rows_have_the_pronoun_of_each_filler_or_a_gap() -> None:
    made = _made("de", ("case", "vase"), _SUITCASE, _german("der Koffer", "die Vase"))
    assert not any(made.removed_mt.values())
    assert not any(made.removed_lm.values())
    first, second = made.mt
    assert first == {
        "qID": "s-1",
        "sentence": "He took the case, not the vase, as it was old.",
        "answer": 1,
        "translation1": "Er nahm den Koffer, nicht die Vase, weil er alt war.",
        "pronoun1": "er",
        "gender1": "male",
        "referent1_en": "case",
        "true_translation_referent_of_pronoun1_de": "Koffer",
        "translation2": "Er nahm den Koffer, nicht die Vase, weil sie alt war.",
        "pronoun2": "sie",
        "gender2": "female",
        "referent2_en": "vase",
        "true_translation_referent_of_pronoun2_de": "Vase",
    }
    assert (second["qID"], second["answer"]) == ("s-2", 2)
    assert second["translation2"].endswith("weil sie neu war.")
    gap = made.lm[0]
    assert gap["context_de"] == "Er nahm den Koffer, nicht die Vase, weil _ alt war."
    assert gap["context_en"] == "He took the case, not the vase, as _ was old."
    assert [gap[f"option{i}_{lang}"] for lang in ("en", "de") for i in (1, 2)] == [
        "the case",
        "the vase",
        "der Koffer",
        "die Vase",
    ]


@pytest.mark.parametrize(
    ("reason", "fillers"),
    [
        ("not_found", ("der Koffer", "sie")),
        ("not_nominative", ("der Koffer", "dem Vase")),
        ("unknown_gender", ("der Koffer", "deine Vase")),
        ("same_gender", ("die Koffer", "die Vase")),
    ],
)
def test_each_filter_after_translation_removes_what_it_names(
    reason: str, fillers: tuple[str, str]
) -> None:
    made = _made("de", ("case", "vase"), _SUITCASE, _german(*fillers))
    assert not made.mt
    assert {name: n for name, n in made.removed_mt.items() if n} == {reason: 2}
    # Without agreement, equal genders do not matter to sentences with a gap.
    assert len(made.lm) == (2 if reason == "same_gender" else 0)


def test_twins_are_removed_together_after_translation() -> None:
    translations = [*_german("der Koffer", "die Vase")[:3], _german("x", "sie")[3]]
    made = _made("de", ("case", "vase"), _SUITCASE, translations)
    assert {name: n for name, n in made.removed_mt.items() if n} == {
        "not_found": 1,
        "twin_removed": 1,
    }
    assert list(made.removed_mt) == list(made.removed_lm) == list(AFTER_TRANSLATION)


def test_french_pronouns_are_elided_and_phrases_of_several_words_replaced() -> None:
    words = {"glass": ("verre", "cocktail"), "cup": ("tasse",)}
    start = "Il prit le verre à cocktail, pas la tasse, parce que"
    made = _made(
        "fr",
        ("glass", "cup"),
        words,
        [
            f"{start} {filler} était {word}."
            for word in ("vieux", "neuf")
            for filler in ("le verre à cocktail", "la tasse")
        ],
    )
    assert made.mt[0]["translation1"].endswith("parce qu'il était vieux.")
    assert made.mt[0]["translation2"].endswith("parce qu'elle était vieux.")
    # In French, the adjective would tell which filler is meant.
    assert made.removed_lm["different_gender"] == 2


def test_russian_needs_a_nominative_and_other_languages_a_list_of_nouns() -> None:
    words: dict[str, Sequence[str]] = {"shirt": ("майку", "майка"), "coat": ("пальто",)}
    made = _made(
        "ru",
        ("shirt", "coat"),
        words,
        [
            f"Он взял майку, а не пальто, так как {filler} {word}."
            for word in ("старая", "новая")
            for filler in ("майка", "пальто")
        ],
    )
    assert made.mt[0]["translation1"] == "Он взял майку, а не пальто, так как она старая."
    assert made.mt[0]["translation2"] == "Он взял майку, а не пальто, так как оно старая."
    polish = [
        f"Wziął stół, nie wazę, bo {filler} jest {word}."
        for word in ("a", "b")
        for filler in ("stół", "waza")
    ]
    links: dict[str, Sequence[str]] = {"table": ("stół",), "vase": ("wazę", "waza")}
    forms = {"male": "on", "female": "ona"}
    made = _made(
        "pl",
        ("table", "vase"),
        links,
        polish,
        known={"stół": "male", "waza": "female"},
        pronouns=forms,
    )
    assert made.mt[1]["translation2"] == "Wziął stół, nie wazę, bo ona jest b."
    unknown = _made("pl", ("table", "vase"), links, polish, pronouns=forms)
    assert unknown.removed_mt["unknown_gender"] == 2


def test_bad_input_is_refused() -> None:
    target = TargetLanguage("de", noun_genders("de"), PRONOUNS["de"], agreement=False)
    candidates = _candidates("case", "vase")
    assert len(gap_sources(candidates)) == 4
    with pytest.raises(InputError, match="expected 4, two for each of 2 sentences, got 3"):
        make_wino_x(candidates, ["x"] * 3, target)
    with pytest.raises(InputError, match="expected at least one sentence"):
        make_wino_x([], [], target)
    with pytest.raises(InputError, match="expected at least two different ones for 'pl'"):
        TargetLanguage("pl", noun_genders("pl"), {"male": "on"}, agreement=True)


def _run(*arguments: str) -> None:
    from cc_hf.cli.main import app

    app(["study", "wino_x", "build", *arguments], standalone_mode=False)


@pytest.fixture(scope="module")
def material(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """WinoGrande with 40 schemas of nouns of all genders, one with a person, and translations."""
    folder = tmp_path_factory.mktemp("winogrande")
    pairs = [*permutations(list(NOUNS)[2:8], 2), *combinations(list(NOUNS)[::-1], 2)][:40]
    rows = hit_schemas(list(dict.fromkeys(pairs)))
    ian = [{**row, "sentence": row["sentence"].replace("ball", "Ian")} for row in rows[:2]]
    paths = {
        "winogrande": write_rows(folder / "rows.jsonl", [*rows, *_with_person(ian)]),
        "sources": folder / "sources.txt",
        "translations": folder / "translations.txt",
        "made": folder / "made",
    }
    arguments = ["--language-pair", "en-de", "--winogrande", str(paths["winogrande"])]
    _run(*arguments, "--sources", str(paths["sources"]), "--quiet")
    lines = paths["sources"].read_text(encoding="utf-8").splitlines()
    paths["translations"].write_text(
        "".join(f"{german(line)}\n" for line in lines), encoding="utf-8"
    )
    _run(
        *arguments,
        *("--translations", str(paths["translations"]), "--output", str(paths["made"]), "--quiet"),
    )
    return paths


def _with_person(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**row, "option1": "Ian"} for row in rows]


def test_the_command_writes_a_dataset_that_is_read_as_wino_x(material: dict[str, Path]) -> None:
    examples = cc_hf.load_examples(str(material["made"]), "mt_en_de.translations")
    gaps = cc_hf.load_examples(str(material["made"]), "lm_en_de")
    english = cc_hf.load_examples(str(material["made"]), "lm_en_de.english")
    sources = cc_hf.load_examples(str(material["made"]), "mt_en_de")
    assert len(examples) == len(sources) > 30
    assert len(gaps) == len(english) == 80
    for example in examples:
        first, second = (example.extra[f"{side}_referent"] for side in ("correct", "incorrect"))
        assert example.extra["correct_pronoun"] == NOUNS[first][1]
        assert example.extra["incorrect_pronoun"] == NOUNS[second][1]
        assert example.extra["correct_referent_tgt"] == NOUNS[first][0]
        assert f", weil {NOUNS[first][1]} " in example.correct_translation
        heavy = " heavy" in example.source
        assert heavy == (example.extra["referent_position"] == "first")
    assert sources[0].correct_sources[0].count(sources[0].gold) == 2
    card = (material["made"] / "README.md").read_text(encoding="utf-8")
    assert "| `animate` | 2 | a filler is a name" in card
    assert "`wino-x|data:winogrande." in card
    assert "Sakaguchi" in card


def test_a_model_is_judged_and_trained_on_it(material: dict[str, Path], tiny_marian: Path) -> None:
    result = cc_hf.evaluate(
        cc_hf.load_material(str(material["made"]), "mt_en_de.translations"),
        metric="contrastive_translation_scoring",
        evaluator=load_evaluator(tiny_marian, mode="exact"),
    )
    assert result.counts["n_pairs"] == len(result.judgements) // 2
    plan = SplitPlan(n_dev=4, n_test=4, sizes=[4], dataset=str(material["made"]))
    curve = debias(tiny_marian, split=plan, settings={"max_epochs": 1})
    assert curve["data"].startswith("custom/mt_en_de.translations@")
    assert [point["size"] for point in curve["points"]] == [0, 4]


def test_arguments_that_do_not_fit_are_refused(material: dict[str, Path], tmp_path: Path) -> None:
    rows = ["--winogrande", str(material["winogrande"])]
    given = ["--translations", str(material["translations"])]
    output = ["--output", str(tmp_path / "out")]
    for arguments in ([*output], [*given], [*given, *output, "--system", "x"]):
        with pytest.raises(InputError, match="expected --output FOLDER with either --system or"):
            _run("--language-pair", "en-de", *rows, *arguments)
    for pair, message in (
        ("en-xx", "expected codes of"),
        ("de-en", "expected a pair from English"),
    ):
        with pytest.raises(InputError, match=f"language_pair: {message}"):
            _run("--language-pair", pair, *rows, *given, *output)
    with pytest.raises(InputError, match="--pronoun: expected GENDER=PRONOUN"):
        _run("--language-pair", "en-pl", *rows, *given, *output, "--pronoun", "on")
    nouns = tmp_path / "nouns.tsv"
    nouns.write_text("stół\tmale\nwaza\tx\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 2: expected a noun, a tab and one gender"):
        _run("--language-pair", "en-pl", *rows, *given, *output, "--nouns", str(nouns))
    short = tmp_path / "short.txt"
    short.write_text("x\n", encoding="utf-8")
    with pytest.raises(InputError, match="translations: expected 160, two for each of 80"):
        _run("--language-pair", "en-de", *rows, *output, "--translations", str(short))
    wrong = tmp_path / "wrong.txt"
    wrong.write_text("x\n" * 160, encoding="utf-8")
    with pytest.raises(InputError, match=r"the filters removed all 80 sentences .*not_found 80"):
        _run("--language-pair", "en-de", *rows, *output, "--translations", str(wrong))
    assert not (tmp_path / "out").exists()


def test_a_system_translates(
    material: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiny_marian: Path
) -> None:
    """The tiny model knows none of these words, so its translations are replaced."""
    import cc_hf.systems.translate as translation

    seen: dict[str, Any] = {}

    def fake(model: Any, texts: Sequence[str], **options: Any) -> list[str]:
        seen.update(options)
        return [german(text) for text in texts]

    monkeypatch.setattr(translation, "translate_with", fake)
    _run(
        *("--language-pair", "en-de", "--winogrande", str(material["winogrande"]), "--quiet"),
        *("--system", str(tiny_marian), "--num-beams", "2", "--output", str(tmp_path / "out")),
    )
    assert (seen["num_beams"], seen["tgt_lang"]) == (2, "de")
    made = cc_hf.load_examples(str(tmp_path / "out"), "mt_en_de.translations")
    again = cc_hf.load_examples(str(material["made"]), "mt_en_de.translations")
    assert all(isinstance(example, ContrastiveTranslationExample) for example in made)
    assert made == again
    assert "/beam2|" in (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
