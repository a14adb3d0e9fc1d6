"""Metrics and files of the evaluation of Firefox Translations, in the form of its runner: that of
`Storage` in pipeline/eval/final_eval.py of mozilla/translations.
"""

import json
from pathlib import Path
from typing import Any

import cc_hf
from cc_hf.plugins.harness import mozilla
from cc_hf.plugins.harness.mozilla import SimpleGen, save_translations, score_folder
from tests.helpers.usual import cases, known, refuses, write_text

RUN = mozilla.Run("en", "de", "simplegen", "bergamot", "base__memory")


class Contrastive(mozilla.ContrastiveMetric):
    name, test_set = "simplegen-contrastive-conditioning", "simplegen"
    dataset, metric = "simplegen", "contrastive_conditioning"


@cases(
    (mozilla.WinoMt, ["en-pt", "en-de", "en-uk"], ["pt-en", "en-fi", "en-zh_hant"]),
    (mozilla.MtGenEval, ["en-pt", "pt-en", "hi-en"], ["en-uk", "fr-de"]),
    (mozilla.MuCoW, ["en-de", "de-en", "en-cs", "fi-en"], ["en-pt", "de-fr"]),
    (SimpleGen, ["en-de", "en-es"], ["en-pt", "de-en"]),
    (Contrastive, ["en-de"], ["de-en"]),
)
def test_language_pairs_are_those_of_the_test_set(metric: Any, right: Any, wrong: Any) -> None:
    assert [pair for pair in right + wrong if metric.supports_lang(*pair.split("-"))] == right
    refuses("expected a language pair", metric().sources, *wrong[0].split("-"))


def test_scores_are_those_of_the_result() -> None:
    metric = SimpleGen()
    sources = metric.sources("en", "de")
    translations = ["Mein Mann ist Direktor.", "Meine Frau ist Direktorin."] * (len(sources) // 2)
    results = metric.score("en", "de", sources, translations, [""] * len(sources))
    material = cc_hf.load_material("simplegen", "en-de")
    expected = cc_hf.evaluate(material, translations=translations, metric="simplegen_accuracy")
    assert results.corpus_score == expected.scores[results.details["figure"]]
    assert results.details["signature"] == expected.signature
    assert results.details["scores"] == expected.scores
    verdicts = {1.0: "correct", 0.0: "incorrect", None: "inconclusive"}
    actual = [verdicts[score] for score in results.segment_scores]
    assert actual == [judgement.verdict for judgement in expected.judgements]
    assert set(actual) == set(verdicts.values())


def test_metrics_with_an_evaluator_give_probabilities() -> None:
    def by_length(sources: Any, translations: Any) -> list[float]:
        return [1 / len(source) for source in sources]

    metric = Contrastive(evaluator=by_length)
    sources = metric.sources("en", "de")
    results = metric.score_qe("en", "de", sources, ["Ja."] * len(sources))
    assert all(s is not None and 0 < s < 1 for s in results.segment_scores)
    assert results.details["figure"] == "min_accuracy"


def test_files_have_the_names_and_the_json_of_their_runner(tmp_path: Path) -> None:
    metric = SimpleGen()
    sources = metric.sources("en", "de")
    translations = ["Mein Mann ist Direktor."] * len(sources)
    path = save_translations(tmp_path, RUN, sources, translations)
    assert path.name == "en-de__simplegen__bergamot__base__memory__latest__translations.json"
    rows = json.loads(path.read_text(encoding="utf-8"))
    assert rows[0] == {"src": sources[0], "trg": translations[0], "ref": None}
    assert mozilla.read_translations(path) == (RUN, sources, translations)
    written = score_folder(tmp_path)
    beginning = path.name.removesuffix("translations.json")
    names = [f"{beginning}simplegen-accuracy.{kind}.json" for kind in ("metrics", "scores")]
    assert [file.name for file in written] == names
    figures, scores = [json.loads(file.read_text(encoding="utf-8")) for file in written]
    assert set(figures) == {"score", "details"}
    assert 0 <= figures["score"] < 1
    assert figures["score"] == round(figures["score"], 4)
    assert len(scores) == len(sources)
    assert all(score is None or isinstance(score, float) for score in scores)
    results = metric.score_qe("en", "de", sources, translations)
    assert mozilla.save_metric(tmp_path, RUN, results) == written
    assert json.loads(written[0].read_text(encoding="utf-8")) == figures


def test_sources_that_a_file_may_not_hold_are_those_of_the_test_set(tmp_path: Path) -> None:
    texts = ["Mein Mann ist Direktor."] * len(SimpleGen().sources("en", "de"))
    rows: list[dict[str, Any]] = [{"src": None, "trg": text, "ref": None} for text in texts]
    name = RUN.file_name("translations.json")
    write_text(tmp_path / name, json.dumps(rows))
    assert len(score_folder(tmp_path, [SimpleGen()])) == 2
    write_text(tmp_path / name, json.dumps(rows[:-1]))
    refuses(rf"{name}: expected the 2664 sources of simplegen, got 2663", score_folder, tmp_path)
    write_text(tmp_path / name, json.dumps([{**rows[0], "src": "No."}, *rows[1:]]))
    refuses("row 0: expected the source 'My husband is a director.'", score_folder, tmp_path)


@cases(
    ("en-de__simplegen__translations.json", "[]", "expected a name such as en-pt__winomt"),
    (RUN.file_name("scores.json"), "[]", "expected a name such as en-pt__winomt"),
    (RUN.file_name("translations.json"), "{}", "expected a list"),
    (RUN.file_name("translations.json"), '[{"src": "A."}]', "item 1: expected the key 'trg'"),
    (RUN.file_name("translations.json"), '[{"src": 1, "trg": ""}]', "item 1: src: expected"),
)
def test_other_files_are_refused(name: str, content: str, message: str, tmp_path: Path) -> None:
    refuses(message, mozilla.read_translations, write_text(tmp_path / name, content))


def test_other_test_sets_and_pairs_are_left_alone(tmp_path: Path) -> None:
    for run in (RUN._replace(dataset="flores200-plus"), RUN._replace(trg="fi")):
        save_translations(tmp_path, run, ["A."], ["B."])
    save_translations(tmp_path, RUN, ["A."], ["B."]).rename(
        tmp_path / RUN.file_name("translations.json", "20260501T120000")
    )
    assert score_folder(tmp_path) == []
    refuses("expected 1 translations, got 2", save_translations, tmp_path, RUN, ["A."], ["B."] * 2)
    missing = tmp_path / "missing"
    refuses("translations.json: cannot be written", save_translations, missing, RUN, ["A"], ["B"])


def test_the_test_sets_by_pair_are_judged(shared: Path, tmp_path: Path) -> None:
    """References in place of translations: what a metric reads in them is nearly always right."""
    upstream = shared / "upstream"
    for metric, src, trg, least in (
        (mozilla.MtGenEval, "en", "pt", 0.99),
        (mozilla.MtGenEval, "pt", "en", 0.99),
        (mozilla.MuCoW, "en", "de", 0.9),
    ):
        made = metric(data_dir=upstream)
        config = known(metric._configuration(src, trg))
        examples = cc_hf.load_material(metric.dataset, config.name, data_dir=upstream).examples
        texts = [example.extra["reference"] for example in examples]
        results = made.score_qe(src, trg, made.sources(src, trg), texts)
        assert results.corpus_score >= least, (metric, src, trg)
    names = [metric.test_set for metric in mozilla.METRICS.values()]
    assert names == ["winomt", "mt-geneval", "mucow", "simplegen"]
