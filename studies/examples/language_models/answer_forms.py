"""Train three small models on the same made-up schemas, each with another form of answer, and show
how their accuracy grows.

    python -m studies.examples.language_models.answer_forms --output out/answer_forms

A schema is a sentence "A does not fit into B because it is T" with two translations that
differ in the pronoun. The adjective T holds for what contains or for what is contained, each noun
has a gender in the target language, and the pronoun agrees with the noun that is meant. One model
answers at once, one first takes the two translations apart, and one first fills the gap in the
sentence and then finds the pronoun that agrees. These are the three ways of asking a language model
of the thesis (section 4.6), here as forms that are trained.

The words and their genders are drawn at random; no text of any language and no language model is
involved. What is shown is that steps written out can be learnt one by one.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import GPT2Config, GPT2LMHeadModel

from cc_hf.reports.formats.plots import empty_figure, saved_figure
from cc_hf.results import Interval
from cc_hf.statistics.score_intervals import share_interval

#: Form of answer -> what it is in words.
FORMS = {
    "basic": "the number of the translation",
    "cot": "pronoun and noun of each translation, then the number",
    "cota": "role of the adjective, noun, its gender, pronoun, then the number",
}
N_NOUNS, N_ADJECTIVES = 40, 20
_PRONOUNS = {"m": "er", "f": "sie", "n": "es"}
_ROLES = ("content", "container")
_END = "<end>"
_FIXED = [
    *("does", "not", "fit", "into", "because", "it", "is", "."),
    *("passt", "nicht", "in", "weil", "1", "2", "answer", "|"),
]
_NOUNS = [f"noun{i}" for i in range(N_NOUNS)]
_TARGETS = [f"Nomen{i}" for i in range(N_NOUNS)]
_ADJECTIVES = [f"adjective{i}" for i in range(N_ADJECTIVES)]
_TARGET_ADJECTIVES = [f"Adjektiv{i}" for i in range(N_ADJECTIVES)]
WORDS = [
    *dict.fromkeys([*_FIXED, *_PRONOUNS, *_PRONOUNS.values(), *_ROLES, _END]),
    *_NOUNS,
    *_TARGETS,
    *_ADJECTIVES,
    *_TARGET_ADJECTIVES,
]
_ID_OF = {word: i for i, word in enumerate(WORDS)}

#: Form, step, seconds of processor time so far, mean loss since the last record, and figures: the
#: share of right answers and of answers with every step right, on new and on seen pairs.
Record = dict[str, Any]


@dataclass(frozen=True)
class World:
    """What must be learnt.

    Attributes:
        genders: gender of the translation of each noun.
        roles: what each adjective holds for: 0 for what is contained, 1 for what contains.
    """

    genders: tuple[str, ...]
    roles: tuple[int, ...]


@dataclass(frozen=True)
class Schema:
    """A sentence with two translations.

    Attributes:
        nouns: number of the noun that is contained and of the one that contains.
        right: number of the right translation, 1 or 2.
    """

    nouns: tuple[int, int]
    adjective: int
    right: int


def parser() -> argparse.ArgumentParser:
    """Return the parser of the options."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--output", type=Path, required=True, help="folder for curve and table")
    options.add_argument("--steps", type=int, default=3000)
    options.add_argument("--batch-size", type=int, default=64)
    options.add_argument("--eval-steps", type=int, default=100)
    options.add_argument("--held-out", type=int, default=300, help="pairs of nouns for testing")
    options.add_argument("--layers", type=int, default=4)
    options.add_argument("--width", type=int, default=128)
    options.add_argument("--heads", type=int, default=4)
    options.add_argument("--learning-rate", type=float, default=1e-3)
    options.add_argument("--warmup", type=int, default=100, help="steps until the full rate")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--threads", type=int, default=1)
    return options


def made_world(generator: np.random.Generator) -> World:
    """Return genders and roles, as evenly distributed as possible."""
    genders = [list(_PRONOUNS)[i % 3] for i in range(N_NOUNS)]
    roles = [i % 2 for i in range(N_ADJECTIVES)]
    return World(
        tuple(str(gender) for gender in generator.permutation(genders)),
        tuple(int(role) for role in generator.permutation(roles)),
    )


def noun_pairs(world: World) -> list[tuple[int, int]]:
    """Return the ordered pairs of nouns whose translations differ in gender."""
    return [
        (content, container)
        for content in range(N_NOUNS)
        for container in range(N_NOUNS)
        if world.genders[content] != world.genders[container]
    ]


def drawn(
    pairs: Sequence[tuple[int, int]], generator: np.random.Generator, numbers: Sequence[int]
) -> list[Schema]:
    """Return a schema of each of the numbered pairs, with adjective and order drawn at random."""
    return [
        Schema(pairs[i], int(generator.integers(N_ADJECTIVES)), int(generator.integers(1, 3)))
        for i in numbers
    ]


def question(schema: Schema, world: World) -> list[str]:
    """Return the words that the model is given; always the same number."""
    content, container = schema.nouns
    meant = world.roles[schema.adjective]
    pronouns = [_PRONOUNS[world.genders[noun]] for noun in (content, container)]
    right, wrong = pronouns[meant], pronouns[1 - meant]
    source = f"noun{content} does not fit into noun{container} because it is"
    words = [*source.split(), _ADJECTIVES[schema.adjective], "."]
    for number in (1, 2):
        pronoun = right if number == schema.right else wrong
        translation = f"{number} Nomen{content} passt nicht in Nomen{container} weil {pronoun}"
        words += [*translation.split(), _TARGET_ADJECTIVES[schema.adjective]]
    return [*words, "answer"]


def answer(schema: Schema, world: World, form: str) -> list[str]:
    """Return the words that the model learns to write; in each form always the same number.

    Examples:
        >>> world = World(("m", "f"), (1,))  # the adjective holds for what contains
        >>> {form: " ".join(answer(Schema((0, 1), 0, 2), world, form)) for form in FORMS}
        ... # doctest: +NORMALIZE_WHITESPACE
        {'basic': '2 <end>',
         'cot': 'er Nomen0 | sie Nomen1 | 2 <end>',
         'cota': 'container noun1 | f sie | 2 <end>'}
    """
    meant = world.roles[schema.adjective]
    noun = schema.nouns[meant]
    gender = world.genders[noun]
    steps: list[str] = []
    if form == "cot":
        shown = (noun, schema.nouns[1 - meant])
        for named in shown if schema.right == 1 else shown[::-1]:
            steps += [_PRONOUNS[world.genders[named]], _TARGETS[named], "|"]
    elif form == "cota":
        steps = [_ROLES[meant], _NOUNS[noun], "|", gender, _PRONOUNS[gender], "|"]
    return [*steps, str(schema.right), _END]


def rows_of(schemas: Sequence[Schema], world: World, form: str) -> tuple[torch.Tensor, int]:
    """Return the ids of questions with answers, (n, length), and the length of an answer."""
    answers = [answer(schema, world, form) for schema in schemas]
    rows = [
        [_ID_OF[word] for word in [*question(schema, world), *words]]
        for schema, words in zip(schemas, answers, strict=True)
    ]
    return torch.tensor(rows), len(answers[0])


def new_model(options: argparse.Namespace) -> GPT2LMHeadModel:
    """Return a model with random weights, the same for each form."""
    torch.manual_seed(options.seed)
    return GPT2LMHeadModel(
        GPT2Config(
            vocab_size=len(WORDS),
            n_positions=64,
            n_embd=options.width,
            n_layer=options.layers,
            n_head=options.heads,
            resid_pdrop=0.0,
            embd_pdrop=0.0,
            attn_pdrop=0.0,
            bos_token_id=_ID_OF[_END],
            eos_token_id=_ID_OF[_END],
        )
    )


def trained_step(
    model: GPT2LMHeadModel,
    optimizer: torch.optim.Optimizer,
    schemas: Sequence[Schema],
    world: World,
    form: str,
) -> float:
    """Train one step, with the loss on the answer only, and return the loss before the step."""
    ids, n_answer = rows_of(schemas, world, form)
    logits = model(input_ids=ids[:, :-1], logits_to_keep=n_answer).logits
    loss = torch.nn.functional.cross_entropy(
        logits.reshape(-1, logits.shape[-1]), ids[:, -n_answer:].reshape(-1)
    )
    optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return float(loss.detach())


@torch.inference_mode()
def judged(
    model: GPT2LMHeadModel, schemas: Sequence[Schema], world: World, form: str
) -> dict[str, list[int]]:
    """Let the model write its answers; return which numbers, and which whole answers, are right."""
    ids, n_answer = rows_of(schemas, world, form)
    n_question = ids.shape[1] - n_answer
    written = ids[:, :n_question]
    output = model(input_ids=written, use_cache=True, logits_to_keep=1)
    for _ in range(n_answer):
        following = output.logits[:, -1:].argmax(-1)
        written = torch.cat([written, following], dim=1)
        output = model(input_ids=following, past_key_values=output.past_key_values, use_cache=True)
    right = written[:, n_question:] == ids[:, n_question:]
    return {
        "answer": right[:, n_answer - 2].int().tolist(),  # before the end
        "steps": right.all(1).int().tolist(),
    }


def share_with_interval(verdicts: Sequence[int], schemas: Sequence[Schema]) -> dict[str, float]:
    """Return the share of right verdicts, with a 95 % interval over whole pairs of nouns."""
    interval = share_interval(
        np.array(verdicts), np.ones(len(verdicts)), groups=[schema.nouns for schema in schemas]
    )
    if not isinstance(interval, Interval):
        raise ValueError(f"expected an interval, got none: {interval.reason}")
    return {"value": sum(verdicts) / len(verdicts), "low": interval.low, "high": interval.high}


def learning_curves(options: argparse.Namespace) -> Iterator[Record]:
    """Train the three models step by step on the same schemas.

    Yields:
        For each form, after each `eval_steps` steps, the figures on new and on seen pairs.
    """
    generator = np.random.default_rng(options.seed)
    world = made_world(generator)
    every = noun_pairs(world)
    order = generator.permutation(len(every)).tolist()
    held_out = [every[i] for i in order[: options.held_out]]
    seen = [every[i] for i in order[options.held_out :]]
    # The same test for every model and step: two schemas of each pair.
    tests = {
        "new": drawn(held_out, generator, [*range(len(held_out))] * 2),
        "seen": drawn(seen, generator, range(min(len(seen), len(held_out)))),
    }
    models = {form: new_model(options) for form in FORMS}
    optimizers = {
        form: torch.optim.AdamW(model.parameters(), lr=options.learning_rate)
        for form, model in models.items()
    }
    losses: dict[str, list[float]] = {form: [] for form in FORMS}
    seconds = dict.fromkeys(FORMS, 0.0)
    for step in range(1, options.steps + 1):
        batch = drawn(seen, generator, generator.integers(len(seen), size=options.batch_size))
        for form, model in models.items():
            begin = time.process_time()
            for group in optimizers[form].param_groups:
                group["lr"] = options.learning_rate * min(1.0, step / options.warmup)
            losses[form].append(trained_step(model, optimizers[form], batch, world, form))
            seconds[form] += time.process_time() - begin
        if step % options.eval_steps and step != options.steps:
            continue
        for form, model in models.items():
            record: Record = {
                "form": form,
                "step": step,
                "seconds": seconds[form],
                "loss": float(np.mean(losses[form])),
            }
            losses[form].clear()
            for name, schemas in tests.items():
                verdicts = judged(model, schemas, world, form)
                for kind, values in verdicts.items():
                    record[f"{kind}_{name}"] = share_with_interval(values, schemas)
            yield record


def table(records: Sequence[Record]) -> Iterator[str]:
    """Yield a Markdown table of the accuracy on new pairs, in percent with 95 % intervals."""
    yield f"| step | {' | '.join(FORMS)} |"
    yield "|---|" + "---|" * len(FORMS)
    for step in sorted({record["step"] for record in records}):
        cells = [
            _percent(record["answer_new"])
            for form in FORMS
            for record in records
            if (record["form"], record["step"]) == (form, step)
        ]
        yield f"| {step:,} | {' | '.join(cells)} |"


def _percent(figure: Mapping[str, float]) -> str:
    return f"{100 * figure['value']:.1f} [{100 * figure['low']:.1f}, {100 * figure['high']:.1f}]"


def curve(records: Sequence[Record]) -> bytes:
    """Return an SVG file of the accuracy on new pairs over steps, with intervals as bands."""
    figure, (axes,) = empty_figure(1, width=6, height=3.4)
    for form, colour, line in zip(
        FORMS, ("#475467", "#b54708", "#1570ef"), (":", "--", "-"), strict=True
    ):
        chosen = [record for record in records if record["form"] == form]
        steps = [record["step"] for record in chosen]
        figures = [record["answer_new"] for record in chosen]
        shares = [[100 * figure[key] for figure in figures] for key in ("value", "low", "high")]
        axes.plot(steps, shares[0], line, color=colour, label=form)
        axes.fill_between(steps, shares[1], shares[2], color=colour, alpha=0.15, linewidth=0)
    axes.axhline(50, color="#98a2b3", linewidth=0.8)
    axes.set_ylim(40, 101)
    axes.set_xlabel("steps of training")
    axes.set_ylabel("right answers on new pairs, %")
    axes.legend(frameon=False, loc="center right")
    return saved_figure(figure, "svg")


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, write records, table and curve after each evaluation, and print the table."""
    options = parser().parse_args(arguments)
    torch.set_num_threads(options.threads)
    options.output.mkdir(parents=True, exist_ok=True)
    records: list[Record] = []
    for record in learning_curves(options):
        records.append(record)
        if record["form"] == list(FORMS)[-1]:
            _write(options, records)
    print("\n".join(table(records)))


def _write(options: argparse.Namespace, records: Sequence[Record]) -> None:
    settings = {key: value for key, value in vars(options).items() if key != "output"}
    text = json.dumps({"options": settings, "records": records}, indent=1)
    (options.output / "curve.json").write_text(f"{text}\n", encoding="utf-8", newline="\n")
    (options.output / "curve.svg").write_bytes(curve(records))
    lines = "\n".join(table(records))
    (options.output / "table.md").write_text(f"{lines}\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
