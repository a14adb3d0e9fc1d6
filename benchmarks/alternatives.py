"""The ways of scoring that are compared: each is loaded once, and then scores any decisions.

transformers is called as its users call it. NMTScore's program is rebuilt here, because its package
requires an old version of transformers. CTranslate2 runs models that its own converter wrote. cc_hf
scores by `Evaluator.score`, and in mode "auto", which knows only decisions, by the metric.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, FSMTTokenizer

from benchmarks.texts import Decisions
from cc_hf.evaluation.fitting import make_metric
from cc_hf.evaluation.judging import judge
from cc_hf.evaluation.material import Material
from cc_hf.evaluators.loading import load_evaluator
from cc_hf.metrics.contrastive_conditioning import judge_rows
from cc_hf.statistics.bootstrap import Bootstrap

__all__ = [
    "ALTERNATIVES",
    "BASELINE",
    "CTRANSLATE2_FAMILIES",
    "LANGUAGES",
    "Alternative",
    "Scores",
    "Setting",
    "UnavailableError",
    "convert_for_ctranslate2",
    "ours",
    "pair_lengths",
]

#: The languages of all pairs, as cc_hf names them.
LANGUAGES: dict[str, Any] = {"src_lang": "en", "tgt_lang": "de"}
_NLLB_LANGUAGES = {"src_lang": "eng_Latn", "tgt_lang": "deu_Latn"}
_PLAIN_BATCH = 32
_NMTSCORE_BATCH = 8  # the default of NMTScore
_CTRANSLATE2_TOKENS = 512  # the fastest of the sizes from 512 to 4,096
#: Families of cc_hf that the converter of CTranslate2 knows.
CTRANSLATE2_FAMILIES = ("marian", "nllb")


class UnavailableError(Exception):
    """A way of scoring does not exist for this model or on this machine; the message says why."""


@dataclass(frozen=True)
class Setting:
    """Which model is run, and where.

    Attributes:
        family: a name of `registry.EVALUATOR_FAMILIES`.
        converted: folder of the model in the format of CTranslate2.
        device: "cpu" or "cuda".
    """

    folder: Path
    family: str
    converted: Path
    threads: int
    device: str = "cpu"


@dataclass(frozen=True)
class Scores:
    """The scores by one way of scoring.

    Attributes:
        best: (decisions, 2) mean natural-log probability of the best correct and the best incorrect
            source.
        logprobs: (pairs,) mean natural-log probability of each pair; None where only decisions are
            known.
    """

    best: npt.NDArray[np.float64]
    logprobs: npt.NDArray[np.float64] | None = None

    @classmethod
    def of(
        cls, decisions: Decisions, logprobs: Sequence[float] | npt.NDArray[np.float64]
    ) -> Scores:
        """Return the scores that follow from the mean log-probability of every pair."""
        by_pair = np.asarray(logprobs, dtype=np.float64)
        judgements = judge_rows(decisions.translations, decisions.references, np.exp(by_pair))
        return cls(_best(judgements), by_pair)

    @property
    def is_correct(self) -> npt.NDArray[np.bool_]:
        """Whether each decision is correct, (decisions,); a tie is, as in the metric."""
        is_correct: npt.NDArray[np.bool_] = self.best[:, 0] >= self.best[:, 1]
        return is_correct


Run = Callable[[Decisions], Scores]


@dataclass(frozen=True)
class Alternative:
    """One way of scoring.

    Attributes:
        dtype: precision of the products, which decides the peak that it is compared with.
        load: loads it; raises UnavailableError where it does not exist.
        devices: kinds of devices on which it runs.
    """

    title: str
    dtype: str
    load: Callable[[Setting], Run]
    devices: tuple[str, ...] = ("cpu",)


def _best(judgements: Sequence[Any]) -> npt.NDArray[np.float64]:
    """Return the logarithms of the best scores of both sides, (decisions, 2)."""
    return np.log(
        np.array(
            [[judgement.score_correct, judgement.score_incorrect] for judgement in judgements],
            dtype=np.float64,
        )
    )


class _Transformers:
    """A model with its tokenizer for English to German, used as its documentation shows."""

    def __init__(self, setting: Setting, dtype: torch.dtype = torch.float32) -> None:
        self.model: Any = (
            AutoModelForSeq2SeqLM.from_pretrained(setting.folder, dtype=dtype)
            .to(setting.device)
            .eval()
        )
        self.tokenizer, self.target_tokenizer = _tokenizers(setting)
        # The first target token of NLLB is the language, which is given and not counted.
        self.n_forced = 1 if setting.family == "nllb" else 0

    def batch(
        self, sources: Sequence[str], translations: Sequence[str]
    ) -> tuple[dict[str, torch.Tensor], torch.Tensor, torch.Tensor]:
        """Return the inputs, the labels, and a mask of those that count, both (rows, longest)."""
        device = self.model.device
        encoded = self.tokenizer(list(sources), padding=True, return_tensors="pt").to(device)
        target = self.target_tokenizer(list(translations)).to(device)
        labels, counted = target["input_ids"], target["attention_mask"].bool()
        start = torch.full_like(labels[:, :1], self.model.config.decoder_start_token_id)
        counted[:, : self.n_forced] = False
        shifted = torch.cat([start, labels[:, :-1]], dim=1)
        return (
            {
                "input_ids": encoded["input_ids"],
                "attention_mask": encoded["attention_mask"],
                "decoder_input_ids": shifted,
                "use_cache": False,
            },
            labels,
            counted,
        )


def _tokenizers(setting: Setting) -> tuple[Any, Callable[[list[str]], Any]]:
    """Return the tokenizer of the sources, and a function that tokenizes translations."""
    folder = setting.folder
    tokenizer = AutoTokenizer.from_pretrained(
        folder, **(_NLLB_LANGUAGES if setting.family == "nllb" else {})
    )
    if setting.family != "fsmt":
        return tokenizer, lambda texts: tokenizer(
            text_target=texts, padding=True, return_tensors="pt"
        )
    paths = {
        "src_vocab_file": folder / "vocab-tgt.json",
        "tgt_vocab_file": folder / "vocab-src.json",
        "merges_file": folder / "merges.txt",
    }
    # FSMT's tokenizer has no target side, so that one of the other direction is used for it.
    reverse = FSMTTokenizer(langs=["de", "en"], **{name: str(path) for name, path in paths.items()})
    return tokenizer, lambda texts: reverse(texts, padding=True, return_tensors="pt")


def pair_lengths(setting: Setting, decisions: Decisions) -> npt.NDArray[np.int64]:
    """Return numbers of tokens of source and translation, (pairs, 2), with special tokens."""
    tokenizer, target_tokenizer = _tokenizers(setting)
    sources, translations = zip(
        *((request.source, request.translation) for request in decisions.requests), strict=True
    )
    sides = (
        tokenizer(list(sources), padding=True, return_tensors="pt"),
        target_tokenizer(list(translations)),
    )
    lengths: npt.NDArray[np.int64] = torch.stack(
        [side["attention_mask"].sum(1) for side in sides], dim=1
    ).numpy()
    return lengths


def _plain(batch_size: int, dtype: torch.dtype = torch.float32) -> Callable[[Setting], Run]:
    """Return scoring by padded batches in the order of the input and log_softmax of all logits."""

    def load(setting: Setting) -> Run:
        loaded = _Transformers(setting, dtype)

        @torch.inference_mode()
        def run(decisions: Decisions) -> Scores:
            means: list[float] = []
            for sources, translations in _batches(decisions, batch_size):
                inputs, labels, counted = loaded.batch(sources, translations)
                logprobs = loaded.model(**inputs).logits.float().log_softmax(-1)
                chosen = logprobs.gather(-1, labels[..., None]).squeeze(-1).masked_fill(~counted, 0)
                means += (chosen.sum(1) / counted.sum(1)).tolist()
            return Scores.of(decisions, means)

        return run

    return load


def _nmtscore(setting: Setting) -> Run:
    """Return scoring as in `nmtscore.models.m2m100.M2M100Model._score` of version 0.3.3."""
    loaded = _Transformers(setting)

    @torch.no_grad()
    def run(decisions: Decisions) -> Scores:
        means: list[float] = []
        for sources, translations in _batches(decisions, _NMTSCORE_BATCH):
            inputs, labels, counted = loaded.batch(sources, translations)
            labels = labels.masked_fill(~counted, -100)
            logits = loaded.model(**inputs, labels=labels).logits
            for row in range(len(sources)):
                # The model computes a loss, and each row gets another one; the score is 2 ** -loss.
                loss = torch.nn.functional.cross_entropy(
                    logits[row][loaded.n_forced :], labels[row][loaded.n_forced :]
                )
                means.append(float(np.log2(2 ** -loss.item())))
        return Scores.of(decisions, means)

    return run


def _batches(decisions: Decisions, size: int) -> list[tuple[list[str], list[str]]]:
    pairs = decisions.requests
    parts = [pairs[start : start + size] for start in range(0, len(pairs), size)]
    return [
        ([request.source for request in part], [request.translation for request in part])
        for part in parts
    ]


def convert_for_ctranslate2(setting: Setting) -> None:
    """Write the model in the format of CTranslate2, unless it exists or cannot be converted."""
    if (
        setting.device != "cpu"
        or setting.family not in CTRANSLATE2_FAMILIES
        or (setting.converted / "model.bin").is_file()
    ):
        return
    try:
        from ctranslate2.converters import TransformersConverter
    except ModuleNotFoundError:
        return  # the rows of CTranslate2 in the tables then say that it is missing
    TransformersConverter(str(setting.folder)).convert(str(setting.converted), force=True)


def _ctranslate2(compute_type: str) -> Callable[[Setting], Run]:
    def load(setting: Setting) -> Run:
        if setting.family not in CTRANSLATE2_FAMILIES:
            raise UnavailableError(f"CTranslate2 has no {setting.family.upper()}")
        try:
            import ctranslate2
        except ModuleNotFoundError:
            raise UnavailableError("the package ctranslate2 is not installed") from None
        translator = ctranslate2.Translator(
            str(setting.converted),
            compute_type=compute_type,
            inter_threads=1,
            intra_threads=setting.threads,
        )
        tokenizer, _ = _tokenizers(setting)

        def run(decisions: Decisions) -> Scores:
            sources = _tokens(tokenizer, [request.source for request in decisions.requests])
            translations = [request.translation for request in decisions.requests]
            # CTranslate2 adds EOS itself.
            targets = [tokens[:-1] for tokens in _tokens(tokenizer, translations, is_target=True)]
            offset = 1 if setting.family == "nllb" else 0
            results = translator.score_batch(
                sources,
                targets,
                max_batch_size=_CTRANSLATE2_TOKENS,
                batch_type="tokens",
                offset=offset,
            )
            return Scores.of(decisions, [float(np.mean(result.log_probs)) for result in results])

        return run

    return load


def _tokens(tokenizer: Any, texts: list[str], *, is_target: bool = False) -> list[list[str]]:
    encoded: Mapping[str, list[list[int]]] = (
        tokenizer(text_target=texts) if is_target else tokenizer(texts)
    )
    return [tokenizer.convert_ids_to_tokens(ids) for ids in encoded["input_ids"]]


def ours(mode: str, *, distributed: bool = False) -> Callable[[Setting], Run]:
    """Return a way of scoring by cc_hf in a mode, without a cache.

    Args:
        distributed: whether to score together with the other processes that torchrun started.
    """

    def load(setting: Setting) -> Run:
        evaluator = load_evaluator(
            setting.folder,
            **LANGUAGES,
            mode=mode,
            device=setting.device,
            distributed=distributed,
            cache=False,
        )
        if evaluator.mode != mode:
            raise UnavailableError(f"on this machine {mode} falls back to {evaluator.mode}")

        def run(decisions: Decisions) -> Scores:
            if mode == "auto":
                result = judge(
                    make_metric("contrastive_conditioning"),
                    Material(**LANGUAGES, rows=decisions.references),
                    decisions.translations,
                    evaluator=evaluator,
                    bootstrap=Bootstrap(n_resamples=1),
                )
                return Scores(_best(result.judgements))
            return Scores.of(
                decisions, evaluator.score(decisions.requests, **LANGUAGES).mean_logprob
            )

        return run

    return load


_BOTH = ("cpu", "cuda")
#: Ways of scoring by name, in the order of the tables.
ALTERNATIVES = {
    "single": Alternative("transformers, one pair at a time, float32", "float32", _plain(1)),
    "nmtscore": Alternative(
        f"NMTScore's way, batches of {_NMTSCORE_BATCH}, float32", "float32", _nmtscore
    ),
    "plain": Alternative(
        f"transformers, batches of {_PLAIN_BATCH}, float32", "float32", _plain(_PLAIN_BATCH), _BOTH
    ),
    "plain-bf16": Alternative(
        f"transformers, batches of {_PLAIN_BATCH}, bfloat16",
        "bfloat16",
        _plain(_PLAIN_BATCH, torch.bfloat16),
        _BOTH,
    ),
    "ct2-float32": Alternative("CTranslate2, float32", "float32", _ctranslate2("float32")),
    "ct2-int8": Alternative("CTranslate2, int8", "int8", _ctranslate2("int8")),
    "exact": Alternative("cc_hf, exact", "float32", ours("exact"), _BOTH),
    "bf16": Alternative("cc_hf, bf16", "bfloat16", ours("bf16"), _BOTH),
    "int8": Alternative("cc_hf, int8", "int8", ours("int8")),
    "auto": Alternative("cc_hf, auto", "bfloat16", ours("auto"), _BOTH),
}
#: The way of scoring with which the others are compared.
BASELINE = "plain"
