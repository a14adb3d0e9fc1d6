"""Languages as people write them, in files, in Python and on the command line."""

import re
from pathlib import Path
from typing import Any

import cc_hf
from cc_hf.evaluation.fitting import make_metric
from cc_hf.languages import language_pair
from tests.helpers.families import save_tiny_nllb
from tests.helpers.usual import cases, refuses, run_command, write_text


@cases(
    *("eng-deu", "en-de-DE", "eng_Latn-deu_Latn", "English-German", "en_de"),  # of the case
    *("en→de", "en_US-de_DE", "en_XX to German", "EN-DE"),
)
def test_languages_are_understood_however_they_are_written(pair: str, shared: Path) -> None:
    folder = shared / "cases/field/l1-language-codes"
    shown = run_command(
        "evaluate", folder / "test.csv", "-l", pair, "--translations", folder / "mt.txt", "--json"
    )
    assert '"tgt_lang": "de"' in shown.stdout
    assert "|langs:en-de|" in shown.stdout


@cases(
    ("English", "German"),
    ("eng_Latn", "deu_Latn"),
    ("en-US", "de_DE"),
    ("EN", "DE"),
    ("eng", "ger"),
)
def test_python_understands_the_same_languages(src_lang: str, tgt_lang: str, shared: Path) -> None:
    folder = shared / "cases/field/l1-language-codes"
    material = cc_hf.load_material(folder / "test.csv", src_lang=src_lang, tgt_lang=tgt_lang)
    texts = (folder / "mt.txt").read_text(encoding="utf-8").splitlines()
    references = material.references(type(make_metric("contrastive_conditioning")))
    figures = cc_hf.load_metric("contrastive_conditioning").compute(
        predictions=texts, references=references, src_lang=src_lang, tgt_lang=tgt_lang
    )
    result = cc_hf.evaluate(material, translations=texts)
    assert result.tgt_lang == "de"
    assert figures["accuracy"] == result.scores["accuracy"] == 1
    assert "|langs:en-de|" in figures["signature"]


def test_languages_that_are_not_known_are_answered_with_the_nearest(shared: Path) -> None:
    rows = [{"correct_sources": ["a"], "incorrect_sources": ["b"], "category": "female"}]
    compute = cc_hf.load_metric("contrastive_conditioning").compute
    data: Any = {"predictions": ["Ja."], "references": rows, "src_lang": "en"}
    refuses("tgt_lang: .*did you mean 'German'", compute, tgt_lang="Germn", **data)
    # no name of a model is made of what the table does not have
    refuses("such as a model of the Hub", compute, tgt_lang="tlh", **data)
    folder = shared / "cases/field/l1-language-codes"
    for message, options in (
        ("tgt_lang: .*did you mean 'German'", {"tgt_lang": "Germann"}),
        ("tgt_lang: .*did you mean 'ja'", {"tgt_lang": "jp"}),
        ("unknown configuration", {"config": "en-Germn"}),
    ):
        refuses(message, cc_hf.load_material, folder / "test.csv", **options)


@cases("en-lv", "en-el", "English-Swedish", "en-lt_LT", "eng-ron_Latn", "en-hi", "en-is")
def test_winomt_is_judged_into_any_language(pair: str, shared: Path, tmp_path: Path) -> None:
    translations = shared / "cases/field/l3-winomt-other-targets/lv.txt"
    first = ("--translations", translations, "--limit", "1", "--data-dir", shared / "upstream")
    save_tiny_nllb(tmp_path)
    shown = run_command("evaluate winomt -l", pair, *first, "--evaluator", tmp_path, "--json")
    assert f"|langs:{'-'.join(language_pair(pair))}|" in shown.stdout
    shown = run_command(
        "evaluate winomt -l", pair, *first, "--metric", "winomt_pattern_matching", status=2
    )
    assert "has rules for ar, de, es, fr, he, it, pt, ru, uk, not for" in shown.stderr


@cases(
    ("expected one of ar, cs, de", "winomt", {"config": "all", "tgt_lang": "lv"}),
    ("expected en, the language of the sources", "winomt", {"src_lang": "fr", "tgt_lang": "de"}),
    ("expected en, the language of the sources", "gest", {"src_lang": "cs", "tgt_lang": "cs"}),
    ("For en-bg: default.sources, emnlp2024.sources", "gest", {"config": "en-bg"}),
    ("has no en-fr, but en-es", "gender_res", {"config": "en-fr"}),
)
def test_other_languages_are_answered_with_those_that_exist(
    message: str, name: str, options: Any
) -> None:
    refuses(message, cc_hf.load_material, name, **options)


def test_data_is_named_by_pairs_in_python_as_on_the_command_line(shared: Path) -> None:
    folder = shared / "upstream"
    splits = cc_hf.load_dataset("winomt", "en-de", data_dir=folder)
    assert splits["test"].num_rows == 3648
    assert len(cc_hf.load_examples("simplegen", "eng_Latn-deu_Latn")) == 2664
    for name, config, tag in (
        ("winomt", "en-pt_BR", ("default", "pt-BR")),
        ("simplegen", "en-German", ("en-de", "de")),
        ("simplegen", "en-lv", ("en", "lv")),
    ):
        material = cc_hf.load_material(name, config, src_lang="eng")
        assert (material.config and material.config.name, material.tgt_lang) == tag


@cases(
    "build FILE --output data --lm-eval tasks -l en-de",
    "build FILE --output data --lm-eval tasks en-de",
    "build FILE --output data -l eng_Latn-deu_Latn",
    "publish dataset FILE --output data --repo a/b -l English-German",
    "sources FILE -l en_de",
    "list datasets FILE -l en→de",
)
def test_commands_take_the_pair_that_they_ask_for(words: str, shared: Path, tmp_path: Path) -> None:
    path = shared / "cases/field/d1-advice-that-cannot-be-followed/ct.csv"
    command, *options = words.split(" FILE ")
    run_command(command, path, *options[0].split(), cwd=tmp_path)
    without = re.sub(r"(?:-l )?\S+$", "", options[0]).replace("data", "other").split()
    shown = run_command(command, path, *without, cwd=tmp_path, status=2)
    assert "or a language pair for all" in shown.stderr


def test_rows_keep_the_variety_and_rules_take_its_language(shared: Path, tmp_path: Path) -> None:
    lines = (shared / "cases/field/l1-language-codes/test.csv").read_text(encoding="utf-8")
    header, *rows = lines.splitlines()
    written = [f"{row},en_GB,{('pt-BR', '>>pt_br<<')[i % 2]}" for i, row in enumerate(rows)]
    path = write_text(tmp_path / "rows.csv", "\n".join([f"{header},src_lang,tgt_lang", *written]))
    save_tiny_nllb(folder := tmp_path / "nllb")
    texts = ["A médica terminou o turno."] * len(rows)
    result = cc_hf.evaluate(cc_hf.load_material(path), translations=texts, evaluator=folder)
    assert result.tgt_lang == "pt-BR"
    assert "|langs:en-GB-pt-BR|" in result.signature
    told = [note for note in result.notes if note.startswith("nllb does not tell")]
    assert told == [
        "nllb does not tell en-GB from other English: it takes the source for en",
        "nllb does not tell pt-BR from other Portuguese: it takes the target for pt",
    ]
    assert "en-GB → pt-BR" in run_command("list datasets", path).stdout
