"""The embedded evaluator behaves on real data as its card says, and its page; it is uncertain of
translations that people call neutral, and agrees with people on the others.
"""

import functools
import importlib.util
import re
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cc_hf
from cc_hf.comparing.people.agreement import agreement_with_labels
from cc_hf.comparing.people.annotations import read_annotations
from cc_hf.comparing.uncertain import uncertain_samples
from cc_hf.errors import ResultWarning
from cc_hf.evaluation.fitting import make_metric
from cc_hf.evaluation.judging import judge
from cc_hf.evaluation.material import Material
from tests.helpers.usual import EN_DE, cases, compute_metric, evaluate_dataset, known, small_result

compute = functools.partial(compute_metric, "contrastive_conditioning")
#: where the figures of the embedded evaluator stand
_PAGE = "docs/measurements.md"

TABLE_1 = (  # Vamvas & Sennrich 2021, Table 1
    "Der Assistent fragte die Ärztin, ob sie Hilfe brauche.",
    "Der Assistent fragte die Doktorin, ob sie Hilfe brauche.",
    "Die Assistentin fragte den Arzt, ob sie Hilfe brauche.",
    "Die Assistentin fragte den Doktor, ob sie Hilfe brauche.",
    "Die Assistenz fragte die ärztliche Fachperson, ob sie Hilfe brauche.",
    "Die Assistentin fragte, ob sie Hilfe brauche.",
)


@pytest.mark.parametrize("score", ["geometric", "arithmetic", "reference"])
def test_translations_of_table_1_are_ranked_as_in_the_paper(score: str) -> None:
    source = "The assistant asked the [{}] doctor if she needs any help."
    reference = {"correct_sources": [source.format("female")], "category": "female"}
    reference["incorrect_sources"] = [source.format("male")]
    options = {"evaluator": "cc-tiny-en-de", "score": score, **EN_DE}
    computed = compute(TABLE_1, [reference] * 6, **options)["probability_correct"]
    assert min(computed[:2]) > 0.5 > max(computed[2:4])
    assert max(abs(p - 0.5) for p in computed[4:]) < min(abs(p - 0.5) for p in computed[:4])


def test_scores_do_not_depend_on_batch_size_or_order() -> None:
    examples = cc_hf.load_examples("simplegen", "en-de")[::75]
    sources = [source for e in examples for source in (*e.correct_sources, *e.incorrect_sources)]
    translations = [
        "Sie arbeitet als Ärztin im Krankenhaus.",
        "Er ist 🎉 ein Mechaniker, «schwer» …",
    ] * len(examples)
    first, *rest = (cc_hf.load_evaluator("cc-tiny-en-de", batch_tokens=n) for n in (1, 300, 20_000))
    scores = first.mean_logprobs(sources, translations)
    for evaluator, step in product((first, *rest), (1, -1)):
        actual = evaluator.mean_logprobs(sources[::step], translations[::step])[::step]
        np.testing.assert_allclose(actual, scores, atol=1e-5, rtol=0)


@pytest.fixture(scope="module")
def aws(shared: Path) -> cc_hf.EvaluationResult:
    path = shared / "upstream/gabrielStanovsky/mt_gender/translations/aws/en-de.txt"
    return evaluate_dataset(
        "winomt", translations=path, tgt_lang="de", data_dir=shared / "upstream", mode="exact"
    )


def test_every_gendered_row_of_winomt_is_judged(aws: cc_hf.EvaluationResult) -> None:
    assert aws.n == len(aws.judgements) == 3648
    assert {c.category: c.n for c in aws.categories} == {"male": 1826, "female": 1822}
    assert aws.counts["n_unused_lines"] == 240


def test_people_agree_as_is_stated(aws: cc_hf.EvaluationResult, shared: Path, root: Path) -> None:
    path = shared / "gold/human_validation/winomt_annotations.en-de.jsonl"
    agreement = agreement_with_labels(aws, read_annotations(path))
    assert agreement.n_labels == 400
    assert agreement.agreement >= 0.92
    assert agreement.weighted_agreement is not None
    assert agreement.weighted_agreement >= 0.976
    shares = [
        f"{100 * share:.2f} %" for share in (agreement.agreement, agreement.weighted_agreement)
    ]
    text = (root / _PAGE).read_text(encoding="utf-8")
    assert "{} unweighted, {} weighted".format(*shares) in text


def test_figures_beside_words_hold(aws: cc_hf.EvaluationResult, shared: Path, root: Path) -> None:
    text = (root / _PAGE).read_text(encoding="utf-8")
    actual = known(re.search(r"^\| aws \|(.*)\|$", text, re.MULTILINE))
    figures = [float(number) for number in re.findall(r"[0-9]+\.[0-9]", actual.group(1))]
    texts = {judgement.example_id: judgement.translation for judgement in aws.judgements}
    material = cc_hf.load_material("winomt", tgt_lang="de", data_dir=shared / "upstream")
    lines = [texts[example.id] for example in material.examples]
    words = cc_hf.evaluate(material, translations=lines, metric="winomt_pattern_matching")
    interval = words.intervals["accuracy_female"]
    names = ("accuracy_female", "accuracy_male", "min_accuracy", "weighted_accuracy")
    shown = [interval.low, interval.high, *(words.scores[name] for name in names[1:3])]
    shown = [words.scores[names[0]], *shown, *(aws.scores[name] for name in names)]
    assert figures == pytest.approx([100 * value for value in shown], abs=0.15)
    assert aws.signature in text


def test_figures_of_the_pages_are_of_the_result(aws: cc_hf.EvaluationResult, root: Path) -> None:
    uncertain = uncertain_samples(aws).samples
    comparing = (root / "docs/comparing.md").read_text(encoding="utf-8")
    assert f"{len(uncertain)} ({100 * len(uncertain) / aws.n:.1f} %) are uncertain" in comparing
    interpretation = (root / "docs/interpretation.md").read_text(encoding="utf-8")
    confidence = f"{100 * aws.scores['mean_confidence']:.1f} % on average for the system aws"
    assert confidence in interpretation


def test_figures_in_the_mt_geneval_card_are_reproduced(shared: Path, root: Path) -> None:
    text = (root / "cards/datasets/mt_geneval.md").read_text(encoding="utf-8")
    pattern = r"are ([0-9.]+) % right\s+\(male ([0-9.]+),\s+female ([0-9.]+); test,\s+de\),\s+"
    actual = known(
        re.search(pattern + r"and the references of the\s+counterfactuals ([0-9.]+) %", text)
    )
    total, male, female, mirrored = (float(number) for number in actual.groups())
    material = cc_hf.load_material("mt_geneval", data_dir=shared / "upstream")
    references = [example.extra["reference"] for example in material.examples]
    with pytest.warns(ResultWarning, match="88.2 % agreement with the references on mt_geneval"):
        scores = cc_hf.evaluate(material, translations=references).scores
    figures = [100 * scores[name] for name in ("accuracy", "accuracy_male", "accuracy_female")]
    assert (total, male, female) == pytest.approx(figures, abs=0.4)
    assert mirrored == pytest.approx(100 - total)  # the two probabilities of a pair sum to 1


def test_contextual_references_are_told_from_those_of_the_other_gender(shared: Path) -> None:
    """The card's figure on all rows is 91.1 %; without the context, scoring finds 51.2 %."""
    material = cc_hf.load_material(
        "mt_geneval", "contextual_de.sources", data_dir=shared / "upstream", limit=100
    )
    confidence = []
    for key in ("reference", "contrastive_reference"):
        texts = [example.extra[key] for example in material.examples]
        result = cc_hf.evaluate(material, translations=texts, metric="contrastive_conditioning")
        confidence.append([j.probability_correct or 0 for j in result.judgements])
    assert sum(a > b for a, b in zip(*confidence, strict=True)) >= 80


def test_files_of_the_evaluator_contain_no_local_paths(root: Path) -> None:
    for path in (root / "cc_hf/assets/cc-tiny-en-de").iterdir():
        content = path.read_bytes()
        assert b"/tmp/" not in content, path
        assert b"/home/" not in content, path


def _figures_script(root: Path) -> Any:
    spec = known(
        importlib.util.spec_from_file_location("readme_figures", root / "docs/readme_figures.py")
    )
    script = importlib.util.module_from_spec(spec)
    known(spec.loader).exec_module(script)
    return script


def test_the_finding_of_the_readme_holds(shared: Path, root: Path) -> None:
    finding = _figures_script(root).finding(shared)
    assert f"\n{finding}\n" in (root / "README.md").read_text(encoding="utf-8")


def test_the_page_says_that_the_demo_judges_itself(root: Path) -> None:
    text = (root / _PAGE).read_text(encoding="utf-8")
    signature = next(line for line in text.splitlines() if "|sys:" in line).strip("`")
    result = small_result((0.4, 0.9))
    scores = {f"accuracy_{name}": 0.5 for name in ("MoMc", "FoFc", "MoFc", "FoMc")}
    shown = replace(result, signature=signature, scores={**result.scores, **scores})
    lines = _figures_script(root).demo_lines(shown)
    assert "Not fit to cite: judged by itself: cc-tiny-en-de is the system" in lines[0]
    assert f"\n{lines[0]}\n" in text
    assert f"\n{lines[-1]}\n" in text


_LABELS = "ZurichNLP/contrastive-conditioning/human_validation/winomt/data/en-de.annotator1.jsonl"


def judged(rows: list[Any], translations: list[str], **options: str) -> cc_hf.EvaluationResult:
    evaluator = cc_hf.load_evaluator("cc-tiny-en-de", mode="exact")
    metric = make_metric("contrastive_conditioning", options)
    return judge(metric, Material("en", "de", rows), translations, evaluator=evaluator)


@cases(("geometric", 0.9375), ("arithmetic", 0.9225))
def test_people_agree_with_both_scores(score: str, agreement: float, shared: Path) -> None:
    path = shared / "gold/human_validation/winomt_annotations.en-de.jsonl"
    annotations = list(read_annotations(path))
    examples = {e.id: e for e in cc_hf.load_examples("winomt", data_dir=shared / "upstream")}
    translations = {a.example_id: a.translation for a in annotations}
    rows = [examples[name] for name in translations]
    result = judged(rows, list(translations.values()), score=score)
    assert agreement_with_labels(result, annotations).agreement == agreement


def test_all_translations_labelled_neutral_are_uncertain_and_few_others(shared: Path) -> None:
    upstream = shared / "upstream"
    annotations = read_annotations(upstream / _LABELS)
    examples = {e.id: e for e in cc_hf.load_examples("winomt", data_dir=upstream)}
    rows = [replace(examples[a.example_id], id=str(i)) for i, a in enumerate(annotations)]
    result = judged(rows, [a.translation for a in annotations])
    uncertain = {int(sample.example_id) for sample in uncertain_samples(result).samples}
    labels = [set(annotation.raw) for annotation in annotations]
    kinds = ({"Both / Neutral / Ambiguous"}, {"Male"}, {"Female"})
    neutral, *gendered = ({i for i, raw in enumerate(labels) if raw == kind} for kind in kinds)
    assert (len(neutral), len(neutral & uncertain)) == (20, 20)
    assert (len(set.union(*gendered)), len(set.union(*gendered) & uncertain)) == (175, 27)
