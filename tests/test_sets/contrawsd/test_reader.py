import functools
import json
from pathlib import Path

import cc_hf
from cc_hf.data.loading import signature_fields
from cc_hf.errors import DataError
from cc_hf.test_sets.contrawsd.reader import frequency_class
from tests.helpers.samples import lay_out_samples
from tests.helpers.usual import cases, fails, refuses


def test_frequencies_fall_into_the_upstream_classes() -> None:
    classes = {
        ">10k": 10**7,
        ">5k": 10000,
        ">2k": 5000,
        ">1k": 2000,
        ">500": 1000,
        ">200": 500,
        ">100": 200,
        ">50": 100,
        ">20": 50,
        "0-20": 20,
    }
    for (name, highest), low in zip(
        classes.items(), [*(highest + 1 for highest in list(classes.values())[1:]), 0], strict=True
    ):
        assert frequency_class(f"{low}/99999999") == name
        assert frequency_class(f" {highest} / 99999999\n") == name


@cases("", "12", "12/", "/12", "a/b", "-1/5", "1.5/3", "1/2/3", "१/२")
def test_malformed_frequencies_are_refused(frequency: str) -> None:
    refuses("expected two numbers such as 12/345", frequency_class, frequency)


def test_samples_of_both_language_pairs_are_read(tmp_path: Path) -> None:
    for pair in ("de-en", "de-fr"):
        lay_out_samples("contrawsd", pair, tmp_path, tmp_path)
    load = functools.partial(cc_hf.load_examples, "contrawsd", data_dir=tmp_path)
    english, french = load("de-en"), load("de-fr")
    actual = [(e.id, e.tgt_lang, e.category, len(e.contrastive_translations)) for e in english]
    assert actual == [("0", "en", ">200", 2), ("1", "en", "0-20", 1), ("2", "en", ">10k", 0)]
    assert [(e.src_lang, e.tgt_lang, e.category) for e in french] == [("de", "fr", ">50")]
    keys = "frequency", "corpus", "sentence_number"
    extra = [tuple(e.extra[key] for key in keys) for e in english[:2]]
    assert extra == [("212/3050", "news.de-en", "7"), ("20/480", "", "")]
    signed = signature_fields("contrawsd", "de-en", data_dir=tmp_path)["data"]
    assert signed.startswith("contrawsd/de-en@local.")


def test_an_item_without_frequency_is_refused_by_number(tmp_path: Path) -> None:
    lay_out_samples("contrawsd", "de-en", tmp_path, tmp_path)
    path = tmp_path / "a-rios/ContraWSD/de-en.final.json"
    key = "frequency of sense/ambig word in wmt16"
    for value, message in (
        (None, "expected text, got None"),
        ("many", "expected two numbers such as 12/345, got 'many'"),
    ):
        (first, *_) = json.loads(path.read_text(encoding="utf-8"))
        path.write_text(json.dumps([{**first, key: value}]), encoding="utf-8")
        fails(
            DataError,
            f"de-en.final.json: item 0: {key}: {message}",
            cc_hf.load_examples,
            "contrawsd",
            data_dir=tmp_path,
        )
