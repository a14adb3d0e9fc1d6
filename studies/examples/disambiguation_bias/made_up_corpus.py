"""A parallel corpus of made-up words with homographs, and a small Marian model that learns from it.

A homograph has two senses, which are equally frequent. Its sense is decided by a trigger word,
which stands anywhere in the sentence. Frequent triggers are learned well, rare ones are not. Where
the trigger is rare, a model relies on the adjective before the homograph, which goes with the right
sense in most sentences only.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from cc_hf_studies.common.nouns import DictionaryNouns
from cc_hf_studies.common.scratch.model import make_model
from cc_hf_studies.common.scratch.options import ModelSizes
from cc_hf_studies.common.scratch.pieces import load_pieces, train_pieces
from cc_hf_studies.disambiguation_bias.homographs import HomographLexicon, SenseCluster

from cc_hf.text.lemmatization import find_lemmatizer
from tools.evaluator_recipe.train import Encoder

__all__ = ["Language", "Sentence", "Sizes", "sentences", "train_model"]

_SYLLABLES = [consonant + vowel for consonant in "bdfgklmprtvz" for vowel in "aiou"]
CLUSTERS = ("1", "2")


@dataclass(frozen=True)
class Sizes:
    """Sizes of the language, the corpus and the model.

    Attributes:
        triggers: number of trigger words of each sense.
        of_sense: number of adjectives that go with one sense.
        training, test: numbers of sentence pairs.
        batch: number of pairs in a step.
        attacked: number of test sentences that are attacked.
        challenge: number of samples of the adversarial challenge set.
        top: sizes of the sets of the most biased test sentences.
    """

    homographs: int = 10
    triggers: int = 12
    adjectives: int = 24
    of_sense: int = 6
    others: int = 30
    training: int = 20_000
    test: int = 4_000
    steps: int = 1_500
    batch: int = 64
    width: int = 48
    learning_rate: float = 2.2e-3
    attacked: int = 250
    challenge: int = 500
    top: tuple[int, ...] = (100, 400)


@dataclass(frozen=True)
class Sentence:
    """A sentence, its translation word for word, and its homograph with its sense."""

    source: str
    target: str
    homograph: str
    cluster: str


@dataclass(frozen=True)
class Language:
    """The words of both languages.

    Attributes:
        triggers: homograph -> sense -> triggers, the most frequent first.
        fitting: homograph -> sense -> adjectives that go with it.
        translations: word -> its translation; for a homograph, (homograph, sense) -> translation.
    """

    homographs: tuple[str, ...]
    triggers: Mapping[tuple[str, str], tuple[str, ...]]
    fitting: Mapping[tuple[str, str], tuple[str, ...]]
    adjectives: tuple[str, ...]
    others: tuple[str, ...]
    translations: Mapping[str | tuple[str, str], str]

    @classmethod
    def make(cls, sizes: Sizes, seed: int) -> Language:
        """Make up the words of both languages, the same ones for the same arguments."""
        draw = random.Random(seed)
        words, targets = _words(draw, "en"), _words(draw, "de")

        def take(n: int) -> tuple[str, ...]:
            return tuple(itertools.islice(words, n))

        homographs, adjectives = take(sizes.homographs), take(sizes.adjectives)
        others = take(sizes.others)
        senses = [(homograph, cluster) for homograph in homographs for cluster in CLUSTERS]
        triggers = {sense: take(sizes.triggers) for sense in senses}
        fitting = {}
        for homograph in homographs:
            chosen = draw.sample(adjectives, 2 * sizes.of_sense)
            fitting[homograph, CLUSTERS[0]] = tuple(chosen[: sizes.of_sense])
            fitting[homograph, CLUSTERS[1]] = tuple(chosen[sizes.of_sense :])
        plain = [*adjectives, *others, *(word for sense in senses for word in triggers[sense])]
        sources: list[str | tuple[str, str]] = [*senses, *plain]
        translations = dict(zip(sources, targets, strict=False))
        return cls(homographs, triggers, fitting, adjectives, others, translations)

    def lexicon(self) -> HomographLexicon:
        """Return the senses of the homographs."""
        return HomographLexicon(
            "en",
            "de",
            "made-up",
            {
                homograph: {
                    cluster: SenseCluster((self.translations[homograph, cluster],))
                    for cluster in CLUSTERS
                }
                for homograph in self.homographs
            },
        )

    def parser(self) -> DictionaryNouns:
        """Return a parser that knows the adjectives and the homographs."""
        parts = dict.fromkeys(self.adjectives, ("ADJ",))
        parts |= dict.fromkeys(self.homographs, ("NOUN",))
        return DictionaryNouns(lambda word: parts.get(word, ()), name="made-up")


def _words(draw: random.Random, lang: str) -> Iterator[str]:
    """Return new words in random order that the lemmatizer of a language does not change."""
    lemmatizer = find_lemmatizer("simplemma")
    forms = ["".join(syllables) for syllables in itertools.product(_SYLLABLES, repeat=3)]
    draw.shuffle(forms)
    return (form for form in forms if lemmatizer.lemmas([form], lang) == [form])


def sentences(language: Language, sizes: Sizes, n: int, seed: int) -> Iterator[Sentence]:
    """Yield sentences, the same ones for the same arguments."""
    draw = random.Random(seed)
    weights = [1 / rank**1.8 for rank in range(1, sizes.triggers + 1)]
    for _ in range(n):
        homograph, cluster = draw.choice(language.homographs), draw.choice(CLUSTERS)
        words: list[str | tuple[str, str]] = list(
            draw.choices(language.others, k=draw.randint(5, 7))
        )
        phrase: list[str | tuple[str, str]] = [(homograph, cluster)]
        if draw.random() < 0.7:
            fits = draw.random() < 0.85
            known = language.fitting[homograph, cluster]
            pool = known if fits else [word for word in language.adjectives if word not in known]
            phrase.insert(0, draw.choice(pool))
        position = draw.randint(0, len(words))
        words[position:position] = phrase
        trigger = draw.choices(language.triggers[homograph, cluster], weights)[0]
        # Not between the adjective and the homograph.
        places = [i for i in range(len(words) + 1) if not position < i < position + len(phrase)]
        words.insert(draw.choice(places), trigger)
        yield Sentence(
            " ".join([*(word if isinstance(word, str) else word[0] for word in words), "."]),
            " ".join([*(language.translations[word] for word in words), "."]),
            homograph,
            cluster,
        )


def train_model(
    training: Sequence[Sentence],
    folder: Path,
    sizes: Sizes,
    seed: int,
    *,
    note: Callable[[str], None] = lambda text: None,
) -> None:
    """Train a Marian model of two and two layers on whole words, and save it."""
    texts = [text for row in training for text in (row.source, row.target)]
    n_words = len({word for text in texts for word in text.split()})
    train_pieces(texts, folder, n_words + 2, model_type="word")
    tokenizer = load_pieces(folder, max_pieces=64)
    model = make_model(
        ModelSizes(2, 2, sizes.width, 4 * sizes.width, 4 * sizes.width, heads=4),
        len(tokenizer.get_vocab()),
        seed=seed,
    )
    note(f"{sum(p.numel() for p in model.parameters() if p.requires_grad):,} parameters")
    encoder = Encoder(folder, max_pieces=64)
    rows = list(
        zip(
            encoder.ids([row.source for row in training]),
            encoder.ids([row.target for row in training]),
            strict=True,
        )
    )
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=sizes.learning_rate, betas=(0.9, 0.98), weight_decay=0.0
    )
    warmup = max(1, sizes.steps // 10)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer,
        lambda step: min(
            (step + 1) / warmup, max(sizes.steps - step, 1) / max(sizes.steps - warmup, 1)
        ),
    )
    draw = random.Random(seed)
    model.train()
    for step in range(sizes.steps):
        batch = draw.sample(rows, min(sizes.batch, len(rows)))
        source, target = (_padded([row[side] for row in batch], encoder.pad) for side in (0, 1))
        start = torch.full((len(target), 1), encoder.pad)
        logits = model(
            input_ids=source,
            attention_mask=(source != encoder.pad).long(),
            decoder_input_ids=torch.cat([start, target[:, :-1]], dim=1),
            use_cache=False,
        ).logits
        loss = torch.nn.functional.cross_entropy(
            logits.flatten(0, 1), target.flatten(), ignore_index=encoder.pad, label_smoothing=0.1
        )
        torch.autograd.backward(loss)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        if (step + 1) % max(1, sizes.steps // 5) == 0:
            note(f"step {step + 1}: loss {loss.item():.3f}")
    model.eval()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def _padded(rows: Sequence[Sequence[int]], pad: int) -> torch.Tensor:
    width = max(map(len, rows))
    return torch.tensor([[*row, *[pad] * (width - len(row))] for row in rows])
