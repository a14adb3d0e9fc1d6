"""Measure what small language models are worth as judges, by labels of people, and write the tables
of docs/measurements.md: python docs/small_language_model_figures.py SHARED MODELS

SHARED holds upstream/, MODELS the folders smollm2 and gemma3, as the tests of real models keep them
(CC_HF_REAL_MODELS=MODELS). Scores are exact, translations are drawn by `_SEED`, and models are
asked at temperature 0. It takes 20 minutes of one core.
"""

from __future__ import annotations

import random
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import typer

import cc_hf
from cc_hf import registry
from cc_hf.data.download import fetch
from cc_hf.data.labelled import LabelledTranslation, LabelSet
from cc_hf.evaluation.fitting import make_metric
from cc_hf.evaluation.judging import judge
from cc_hf.evaluation.material import Material
from cc_hf.evaluators.families.prompt import DEFAULT_PROMPT
from cc_hf.evaluators.loading import evaluator_of
from cc_hf.hub.cards import with_block
from cc_hf.languages import language_name
from cc_hf.models.pretrained import load_model
from cc_hf.plugins.asking.conversations import Decoding
from cc_hf.plugins.asking.local_chat import open_local_chat
from cc_hf.plugins.asking.logprobs import choices_by_logprob
from cc_hf.plugins.asking.plans import plan_choices
from cc_hf.plugins.asking.runs import ask_plan, choices_of_run
from cc_hf.reports.figure_text import with_interval
from cc_hf.results import EvaluationResult
from cc_hf.schema import ContrastiveSourceExample, ContrastiveTranslationExample
from cc_hf.statistics.score_intervals import wilson_interval

_PAGE = Path(__file__).parent / "measurements.md"
_SEED = 0
_N_OF_GENDER = 75  # translations of either gender in a label set
_N_ASKED = 8  # sentences, each with a cue for either gender
_GENDERS = ("female", "male")
#: Label set, target language.
_LABELS = (
    ("winomt", "de"),
    ("genderous", "de"),
    ("gender_alternatives", "de"),
    ("gender_alternatives", "es"),
    ("gender_alternatives", "fr"),
)
_ASKED = ("de",)
_CHAT_MODELS = ("SmolLM2-135M-Instruct",)
_SMOLLM2, _GEMMA3 = "SmolLM2-135M-Instruct", "Gemma 3 270M"
_EMBEDDED = "cc-tiny-en-de"
_FOLDERS = {_SMOLLM2: "smollm2", _GEMMA3: "gemma3"}


def drawn(labels: LabelSet, lang: str, material: Material) -> list[LabelledTranslation]:
    """Draw translations that show a woman or a man, as many of both, one of a sentence."""
    pair = f"en-{lang}"
    paths = {file.path: fetch(file, material.data_dir) for file in labels.files.get(pair, ())}
    rows = [row for row in labels.read(paths, pair, material.examples) if row.shows in _GENDERS]
    random.Random(_SEED).shuffle(rows)
    chosen: dict[str, LabelledTranslation] = {}
    n: Counter[str] = Counter()
    for row in rows:
        if row.example_id not in chosen and n[row.shows] < _N_OF_GENDER:
            chosen[row.example_id] = row
            n[row.shows] += 1
    return list(chosen.values())


def right(
    evaluator: cc_hf.Evaluator, material: Material, rows: Sequence[LabelledTranslation]
) -> Iterator[tuple[str, bool]]:
    """Yield the gender that each translation shows, and whether the judge finds it."""
    shown = {row.example_id: row for row in rows}
    part = replace(material, chosen=frozenset(shown))
    texts = [shown[example.id].translation for example in part.examples]
    metric = make_metric("contrastive_conditioning", {})
    result = judge(metric, part, texts, evaluator=evaluator, clean=False)
    by_id = {j.example_id: j.is_correct for j in result.judgements} or {
        r.example_id: (r.probability_counted or 0.0) >= 0.5 for r in result.readings
    }
    for example in part.examples:
        gender = shown[example.id].shows
        yield gender, by_id[example.id] == (gender == getattr(example, "gold", ""))


def _share(part: int, whole: int) -> str:
    if not whole:
        return "none"
    return f"{part} of {whole}: {with_interval(part / whole, wilson_interval(part, whole))}"


def _cells(judged: Sequence[tuple[str, bool]]) -> list[str]:
    """Return how often the judge is right, on all translations, on women and on men."""
    n = Counter(gender for gender, _ in judged)
    n_right = Counter(gender for gender, is_right in judged if is_right)
    parts = [(n_right.total(), n.total()), *((n_right[g], n[g]) for g in _GENDERS)]
    return [_share(*part) for part in parts]


def _evaluators(models: Path) -> Iterator[tuple[str, dict[str, cc_hf.Evaluator]]]:
    """Yield the name of each judge in the table, and its evaluators by target language."""
    langs = dict.fromkeys(lang for _, lang in _LABELS)
    for name, folder in _FOLDERS.items():
        loaded = load_model(models / folder, device="cpu")
        evaluators = {}
        for lang in langs:
            # The names are filled in here, so that one loaded model serves all languages.
            filled = DEFAULT_PROMPT.replace("{src_name}", "English")
            evaluators[lang] = evaluator_of(
                loaded.model,
                loaded.tokenizer,
                name=folder,
                kind=loaded.family,
                prompt=filled.replace("{tgt_name}", language_name(lang)),
            )
        yield name, evaluators
    yield f"`{_EMBEDDED}`", {"de": cc_hf.load_evaluator(_EMBEDDED, mode="exact")}


def scoring_table(data_dir: Path, models: Path) -> str:
    """Return how often each judge finds the gender that people see, by label set."""
    label_sets = registry.load_all("label set")
    lines = ["| judge | labels | right | women | men |", "|---|---|---|---|---|"]
    for judge_name, evaluators in _evaluators(models):
        for name, lang in _LABELS:
            if lang not in evaluators:
                continue
            labels = label_sets[name]
            config = labels.configs[f"en-{lang}"]
            material = cc_hf.load_material(name, config, tgt_lang=lang, data_dir=data_dir)
            judged = list(right(evaluators[lang], material, drawn(labels, lang, material)))
            lines.append(f"| {' | '.join([judge_name, f'{name} en-{lang}', *_cells(judged)])} |")
            typer.echo(lines[-1])
    return "\n".join(lines)


def questions(lang: str, data_dir: Path) -> list[ContrastiveTranslationExample]:
    """Return sentences whose cue says which of two translations by people is right."""
    material = cc_hf.load_material(
        "gender_alternatives", lang, tgt_lang=lang, data_dir=data_dir, cues="gender_nouns"
    )
    examples = [e for e in material.examples if isinstance(e, ContrastiveSourceExample)]
    rows = []
    for example in random.Random(_SEED).sample(examples, _N_ASKED):
        feminine, masculine = (example.extra[name] for name in ("feminine", "masculine"))
        sides = [
            ("female", example.correct_sources[0], feminine, masculine),
            ("male", example.incorrect_sources[0], masculine, feminine),
        ]
        for gender, source, correct, other in sides:
            name = f"{example.id}.{gender}"
            rows.append(
                ContrastiveTranslationExample(
                    name, "en", lang, source, correct, (other,), category=gender
                )
            )
    return rows


def _choices(result: EvaluationResult) -> list[str]:
    """Return how many choices are right of those that are the same in both orders, and of all."""
    n = Counter(judgement.verdict for judgement in result.judgements)
    decided = n["correct"] + n["incorrect"]
    return [_share(decided, n.total()), _share(n["correct"], decided)]


def asking_table(data_dir: Path, models: Path) -> str:
    """Return how often models made for conversations choose the translation that fits the cue."""
    lines = [
        "| pair | model | read from | same choice in both orders | right of these |",
        "|---|---|---|---|---|",
    ]
    for lang in _ASKED:
        material = Material("en", lang, questions(lang, data_dir))
        plan = plan_choices(material.examples, n_shots=0, both_orders=True)
        for model in _CHAT_MODELS:
            folder = _FOLDERS[model]
            chat = open_local_chat(
                str(models / folder), decoding=Decoding(max_new_tokens=16), device="cpu"
            )
            with tempfile.TemporaryDirectory() as kept:
                path = Path(kept) / "replies.jsonl"
                run, replies = ask_plan(
                    "choose", material, plan, chat, path, is_main=True, progress=False
                )
            results = {
                "the reply": choices_of_run(run, replies),
                "log-probabilities": choices_by_logprob(run, plan, chat),
            }
            for read, result in results.items():
                lines.append(f"| {' | '.join([f'en-{lang}', model, read, *_choices(result)])} |")
                typer.echo(lines[-1])
    return "\n".join(lines)


def page_part(scoring: str, asking: str) -> str:
    """Return both tables with what they count."""
    return f"""Small language models of the package index as judges, in four bits: {_SMOLLM2},
made of English texts, and {_GEMMA3}, made of texts in many languages and for no conversations.
Of each label set, up to {_N_OF_GENDER} translations that show a woman and as many that show
a man are drawn (seed {_SEED}), one of a sentence. Contrastive conditioning by causal scoring
(`mode=exact`), with the cues of the set and the default prompt; chance is 50 %:

{scoring}

{_SMOLLM2}, asked in words which of two translations by people is right (as by
`cc-hf ask --shots 0 --both-orders --answer-logprobs`): {_N_ASKED} sentences of the gender
alternatives, each under a cue for either gender (`gender_nouns`). A choice counts if it stays the
same when the options change places:

{asking}

`CC_HF_REAL_MODELS=MODELS python -m pytest -m real_models tests` makes the folders of the models,
`python docs/small_language_model_figures.py SHARED MODELS` the tables."""


def main(shared: Path, models: Path) -> None:
    """Write the tables."""
    data_dir = shared / "upstream"
    part = page_part(scoring_table(data_dir, models), asking_table(data_dir, models))
    page = with_block(_PAGE.read_text(encoding="utf-8"), "small-language-models", part)
    _PAGE.write_text(page, encoding="utf-8", newline="\n")
    typer.echo(f"{_PAGE.name} written")


if __name__ == "__main__":
    typer.run(main)
