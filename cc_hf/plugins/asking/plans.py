"""What is asked of a language model: the prompt with its demonstrations, and one request or two per
sample. Samples of a demonstration's schema are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

from cc_hf.errors import InputError
from cc_hf.evaluation.material import Material
from cc_hf.normalization import is_blank
from cc_hf.plugins.asking.prompting.prompts import (
    Prompt,
    choice_prompt,
    choice_question,
    sense_prompt,
    sense_question,
)
from cc_hf.plugins.asking.prompting.replies import Request
from cc_hf.plugins.asking.prompting.samples import (
    ChoiceSample,
    TranslationSample,
    choice_samples,
    draw_samples,
    draw_schemas,
    drawn_together,
    read_choice_samples,
    read_translation_samples,
    same_sentence,
    shipped_file,
    translation_sample,
)
from cc_hf.plugins.asking.prompting.templates import STRATEGIES, Template, find_template
from cc_hf.rules import AtLeast, OneOf, check_fields
from cc_hf.schema import ContrastiveTranslationExample, Example

if TYPE_CHECKING:
    from datasets import Dataset

__all__ = [
    "SWAPPED",
    "TASKS",
    "Plan",
    "Questions",
    "choice_references",
    "message_dataset",
    "plan_choices",
    "plan_translations",
]

#: What a model is asked to do.
TASKS = ("choose", "translate")
#: What follows the id of a sample whose options were swapped.
SWAPPED = "/swapped"

_Sample = TypeVar("_Sample", ChoiceSample, TranslationSample)


@dataclass(frozen=True)
class Plan:
    """What will be asked."""

    prompt: Prompt
    requests: tuple[Request, ...]  # one per sample, or two where it is asked in both orders
    origin: str  # of demonstrations: "none", "shipped", "data.SEED", or the name of a file
    # Ids of examples that are not asked, since a demonstration has their schema or sentence.
    left_out: tuple[str, ...]
    notes: tuple[str, ...] = ()  # what differs from the thesis since the data are few

    @property
    def n_shots(self) -> int:
        """The number of demonstrations."""
        return len(self.prompt.demonstrations)

    @property
    def n_characters(self) -> int:
        """The number of characters of all requests."""
        return sum(len(turn.content) for r in self.requests for turn in r.conversation)


@dataclass(frozen=True)
class Questions:
    """How a model is asked.

    Attributes:
        task: "choose"; or "translate", of which the result is JSONL; None for choose where the data
            have contrastive translations.
        strategy: "basic" asks for the answer only, "cot" (Chain of Thought) for reasons first,
            "cota" (Chain of Tasks) for the filler of a gap first.
        shots: number of demonstrations; None for that of the thesis, or fewer where the data do
            not have as many.
        demonstrations: "data" draws them by the seed, and does not ask these; "shipped" has reasons
            (en-de, en-fr, en-ru); or a .tsv file of your own. "auto" is data for basic, otherwise
            shipped.
        both_orders: ask twice, with the options in both orders, and count a choice only if it stays
            the same.
        seed: seed of the demonstrations.
    """

    task: Annotated[str | None, OneOf(*TASKS)] = None
    strategy: Annotated[str, OneOf(*STRATEGIES)] = "basic"
    shots: Annotated[int | None, AtLeast(0)] = None
    demonstrations: str = "auto"
    both_orders: bool = False
    seed: Annotated[int, AtLeast(0)] = 0

    def __post_init__(self) -> None:
        check_fields(self)

    def plan(self, material: Material) -> tuple[str, Plan]:
        """Return the task, and what will be asked, see `plan_choices` and `plan_translations`."""
        examples = material.examples
        has_options = any(isinstance(e, ContrastiveTranslationExample) for e in examples)
        task = self.task or TASKS[not has_options]
        if task == "choose":
            return task, plan_choices(
                examples,
                strategy=self.strategy,
                n_shots=self.shots,
                demonstrations=self.demonstrations,
                seed=self.seed,
                both_orders=self.both_orders,
            )
        if self.both_orders:
            raise InputError("both_orders: expected none where translations are asked for")
        return task, plan_translations(
            examples,
            src_lang=material.src_lang,
            tgt_lang=material.tgt_lang,
            strategy=self.strategy,
            n_shots=self.shots,
            demonstrations=self.demonstrations,
            seed=self.seed,
        )


def plan_choices(
    examples: Sequence[Example],
    *,
    strategy: str = "basic",
    n_shots: int | None = None,
    demonstrations: str | Path = "auto",
    seed: int = 0,
    both_orders: bool = False,
) -> Plan:
    """Plan to ask which of two options is right.

    `n_shots` None is the number of the thesis, or half of what can be drawn from examples that are
    too few for it; a note says so. Samples of a schema that a demonstration has are left out.

    Examples:
        >>> example = ContrastiveTranslationExample(
        ...     "a", "en", "de", "It fell.", "Er fiel.", ("Sie fiel.",), "male", {"answer": "1"}
        ... )
        >>> plan = plan_choices([example], n_shots=0)
        >>> plan.requests[0].reference["answer"], plan.left_out
        ('1', ())
    """
    pairs = _of_translations(examples)
    task = "fillers" if all(is_blank(example.source) for example in pairs) else "translations"
    if task == "translations":
        _check_sources(pairs)
    template = find_template(task, strategy)
    src_lang, tgt_lang = pairs[0].src_lang, pairs[0].tgt_lang
    categories, samples = {}, []
    for example in pairs:
        for sample in choice_samples(example):
            categories[sample.id] = example.category
            samples.append(sample)
    drawable = [s for s in samples if s.explains or strategy == "basic"]
    chosen, origin, notes = _demonstrations(
        template,
        n_shots,
        demonstrations,
        seed,
        lambda n: draw_schemas(drawable, n, seed=seed),
        lambda path: read_choice_samples(path, tgt_lang),
        shipped=lambda: shipped_file(task, src_lang, tgt_lang),
        fewer=_fewer(template.shots, drawn_together(drawable), len(samples)),
    )
    sentences = {same_sentence(sample.sentence) for sample in chosen}
    schemas = {sample.schema for sample in chosen if sample.id}
    schemas |= {s.schema for s in samples if same_sentence(s.sentence) in sentences}
    schemas -= {""}
    kept, left_out = _split(
        samples, lambda s: s.schema in schemas or same_sentence(s.sentence) in sentences
    )
    prompt = choice_prompt(template, chosen, src_lang=src_lang, tgt_lang=tgt_lang)
    requests = []
    for sample in kept:
        for shown in (sample, sample.swapped())[: 1 + both_orders]:
            question = choice_question(template, shown, src_lang=src_lang)
            reference = _reference(shown, categories[sample.id])
            name = sample.id if shown is sample else f"{sample.id}{SWAPPED}"
            requests.append(Request(name, prompt.conversation(question), reference))
    return Plan(prompt, tuple(requests), origin, tuple(left_out), notes)


def choice_references(examples: Sequence[Example]) -> list[dict[str, str]]:
    """Return what is asked of examples, demonstrations included, as `prompted_choice` reads it."""
    return [
        _reference(sample, example.category)
        for example in _of_translations(examples)
        for sample in choice_samples(example)
    ]


def _of_translations(examples: Sequence[Example]) -> list[ContrastiveTranslationExample]:
    pairs = [e for e in examples if isinstance(e, ContrastiveTranslationExample)]
    if not examples or len(pairs) < len(examples):
        raise InputError(
            "task: expected translate, or examples with contrastive translations to choose from,"
            f" such as mt_*.translations of wino_x, got {len(pairs):,} of those among"
            f" {len(examples):,} examples"
        )
    return pairs


def _check_sources(examples: Sequence[Example]) -> None:
    """Refuse an example without a source, since the model would be asked about nothing."""
    blank = next((example.id for example in examples if is_blank(example.source)), None)
    if blank is not None:
        raise InputError(
            f"example {blank}: source: expected a text that the model is asked about, got a blank;"
            " remove the row, or write its source"
        )


def _reference(sample: ChoiceSample, category: str) -> dict[str, str]:
    return {
        "answer": sample.answer,
        "category": category,
        "pair": sample.schema,
        "option1": sample.options[0],
        "option2": sample.options[1],
    }


def plan_translations(
    examples: Sequence[Example],
    *,
    src_lang: str,
    tgt_lang: str,
    strategy: str = "basic",
    n_shots: int | None = None,
    demonstrations: str | Path = "auto",
    seed: int = 0,
) -> Plan:
    """Plan to ask for translations of sentences; those of demonstrations are left out."""
    template = find_template("senses", strategy)
    samples = [translation_sample(example) for example in examples]
    if not samples:
        raise InputError("expected examples with a source to translate, got none")
    _check_sources(examples)
    if strategy != "basic" and demonstrations == "data":
        raise InputError(
            f"demonstrations: expected shipped or a file for {strategy}, since the data hold no"
            " reasons, got 'data'"
        )
    translated = [[sample] for sample in samples if not is_blank(sample.translation)]
    chosen, origin, notes = _demonstrations(
        template,
        n_shots,
        demonstrations,
        seed,
        lambda n: draw_samples(samples, n, seed=seed),
        read_translation_samples,
        shipped=lambda: shipped_file("senses", src_lang, tgt_lang),
        fewer=_fewer(template.shots, translated, len(samples)),
    )
    sentences = {same_sentence(sample.source) for sample in chosen}
    kept, left_out = _split(samples, lambda sample: same_sentence(sample.source) in sentences)
    prompt = sense_prompt(template, chosen, src_lang=src_lang, tgt_lang=tgt_lang)
    categories = {example.id: example.category for example in examples}
    requests = tuple(
        Request(
            sample.id,
            prompt.conversation(sense_question(template, sample.source, src_lang=src_lang)),
            {"source": sample.source, "category": categories[sample.id]},
        )
        for sample in kept
    )
    return Plan(prompt, requests, origin, tuple(left_out), notes)


def message_dataset(plan: Plan) -> Dataset:
    """Return everything that a plan asks as a dataset, for libraries that let chat models answer.

    Examples:
        >>> example = ContrastiveTranslationExample(
        ...     "a", "en", "de", "It fell.", "Er fiel.", ("Sie fiel.",), "male", {"answer": "1"}
        ... )
        >>> row = message_dataset(plan_choices([example], n_shots=0))[0]
        >>> row["id"], row["answer"], row["messages"][0]["role"]
        ('a', '1', 'user')
    """
    import datasets

    return datasets.Dataset.from_list(
        [
            {"id": r.id, "messages": [asdict(turn) for turn in r.conversation], **r.reference}
            for r in plan.requests
        ]
    )


def _fewer(n_shots: int, groups: Sequence[Sequence[object]], n_samples: int) -> int | None:
    """Return the default number of demonstrations for too few samples; None if they suffice."""
    if sum(map(len, groups)) >= n_shots and n_samples > n_shots:
        return None
    # Half of the groups, so that as many are left to ask.
    return sum(map(len, groups[: len(groups) // 2]))


def _demonstrations(
    template: Template,
    n_shots: int | None,
    named: str | Path,
    seed: int,
    draw: Callable[[int], list[_Sample]],
    read: Callable[[Path], list[_Sample]],
    *,
    shipped: Callable[[], Path],
    fewer: int | None,
) -> tuple[list[_Sample], str, tuple[str, ...]]:
    """Return the demonstrations, their origin, and the note on fewer of them than by default."""
    if n_shots is not None and n_shots < 0:
        raise InputError(f"shots: expected 0 or more, got {n_shots}")
    if n_shots == 0:
        return [], "none", ()
    if named == "auto":
        named = "data" if template.strategy == "basic" else "shipped"
    if named == "data" and n_shots is None and fewer is not None:
        note = (
            f"demonstrations: {fewer}, fewer than the default of {template.shots}, since the data"
            " have too few samples; `shots` sets another number"
        )
        return draw(fewer), f"data.{seed}" if fewer else "none", (note,)
    if named == "data":
        return draw(template.shots if n_shots is None else n_shots), f"data.{seed}", ()
    path = shipped() if named == "shipped" else Path(named)
    samples = read(path)
    if n_shots is not None and n_shots > len(samples):
        raise InputError(
            f"shots: expected at most {len(samples)}, the number of demonstrations in {path.name},"
            f" got {n_shots}"
        )
    return samples[:n_shots], "shipped" if named == "shipped" else path.name, ()


def _split(
    samples: Sequence[_Sample], is_shown: Callable[[_Sample], bool]
) -> tuple[list[_Sample], list[str]]:
    """Return the samples to ask, and the ids of those that demonstrations show."""
    kept = [sample for sample in samples if not is_shown(sample)]
    if not kept:
        raise InputError(
            f"shots: expected fewer, so that samples are left to ask: the demonstrations show the"
            f" schemas of all {len(samples)}"
        )
    asked = {sample.id for sample in kept}
    return kept, [sample.id for sample in samples if sample.id not in asked]
