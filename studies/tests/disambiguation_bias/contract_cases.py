"""Cases of the study for the contracts of all studies."""

import json
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch
from cc_hf_studies.disambiguation_bias import baselines
from cc_hf_studies.disambiguation_bias.attacks.contrastive import read_cues
from cc_hf_studies.disambiguation_bias.attacks.judge import attack_figures, judge_agreement
from cc_hf_studies.disambiguation_bias.attacks.samples import (
    AttackJudgement,
    read_judgements,
    read_samples,
)
from cc_hf_studies.disambiguation_bias.attacks.transfer import transferability
from cc_hf_studies.disambiguation_bias.attractors import ASSOCIATIONS, read_stop_words, read_table
from cc_hf_studies.disambiguation_bias.homographs import read_lexicon, read_pairs
from cc_hf_studies.disambiguation_bias.prediction import error_rate_by_bias, predict_errors
from cc_hf_studies.disambiguation_bias.sentences import BiasColumns, score_file
from cc_hf_studies.disambiguation_bias.tagging_summary import count_file
from safetensors.numpy import load_file
from transformers import MarianTokenizer

from cc_hf.statistics.bootstrap import Bootstrap
from studies.tests.disambiguation_bias.attacks.helper import sample_of
from studies.tests.disambiguation_bias.baseline_models import convs2s_logprobs, lstm_logprobs
from tests.helpers.command_line import read_json
from tests.helpers.contract_cases import ContractCases, FamilyCase, FigureCase, KeptFile, opposed
from tests.helpers.models import N_POSITIONS, save_tiny_marian

_FEW = Bootstrap(n_resamples=20)


def attack(number: int, draw: random.Random) -> AttackJudgement:
    names = {"id": str(number), "seed_id": str(number // 2)}
    sample = sample_of(draw.choice(["hot", "old"]), **names, freq_diff=float(draw.randrange(4)))
    seed = draw.choice(["correct", "correct", "unknown"])
    outcome = draw.choice(["correct", "flipped:water", "unknown"])
    return AttackJudgement(sample, "", "", seed, outcome, draw.random(), draw.random())


def again(row: AttackJudgement) -> AttackJudgement:
    sample = replace(row.sample, id=f"x{row.sample.id}", seed_id=f"x{row.sample.seed_id}")
    return replace(row, sample=sample)


def transfer(rows: Sequence[tuple[AttackJudgement, AttackJudgement]]) -> Any:
    return transferability({"a": [a for a, _ in rows], "b": [b for _, b in rows]})


def attack_twice(number: int, draw: random.Random) -> tuple[AttackJudgement, AttackJudgement]:
    first, other = attack(number, draw), attack(number, draw)
    return first, replace(other, sample=first.sample)


def _texts(*rows: Any) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


_COUNTS = {"1": {"ball": 3, "night": 1}, "2": {"night": 6, "ball": 1}}
_TABLE = json.dumps(
    {
        **{"src_lang": "en", "lemmatizer": "simplemma", "stop_words": ["the"]},
        **{"corpus": "0a1b2c3d", "lexicon": "0123456", "counts": {"bat": _COUNTS}},
        "tagging": "tag|corpus:0a1b2c3|lexicon:0123456|n:9",
        "n_pairs": {"bat": {"1": 3, "2": 6}},
    }
)
_PAIR = {
    **{"id": "0", "source": "A ball hit the bat .", "reference": "Der Ball traf den Schläger ."},
    **{"homograph": "bat", "start": 15, "token": 4, "cluster": "1", "target_token": "Schläger"},
}
_SAMPLE = asdict(sample_of("hot", fluency_ratio=1.1))
_JUDGED = {
    **_SAMPLE,
    **{"seed_translation": "a", "translation": "b", "seed_outcome": "correct"},
    **{"outcome": "flipped:water", "seed_probability_correct": 0.75, "probability_correct": 0.25},
}


def _biases(table: Any, path: Path) -> None:
    for homograph in table.counts:
        for association in ASSOCIATIONS:
            table.strongest(homograph, association=association)
    table.signature(associations=ASSOCIATIONS)
    table.to_json()
    score_file(path.with_name("pairs.jsonl"), BiasColumns(table, ASSOCIATIONS, 0.0, True))


def _scored(path: Path) -> None:
    table = read_table(path.with_name("table.json"))
    score_file(path, BiasColumns(table, ("freq", "ppmi"), 0.0, True))


def _counted(path: Path) -> None:
    count_file(path.with_name("pairs.jsonl"), read_lexicon(path.with_name("lexicon.json")))


_LEXICON = json.dumps({"bat": {"1": ["Schläger"], "2": {"senses": ["Fledermaus"], "pos": "N"}}})


def _all(read: Callable[[Path], Iterable[Any]]) -> Callable[[Path], list[Any]]:
    return lambda path: list(read(path))


def _successes(rows: Sequence[AttackJudgement], _: Path) -> list[bool | None]:
    return [row.succeeds(judge) for row in rows for judge in ("lexicon", "x")]


def _correlation(rows: Sequence[tuple[float, bool]]) -> dict[str, float]:
    values, errors = zip(*rows, strict=True)
    (test,) = predict_errors({"x": values}, list(errors)).tests
    return {"x": test.test.rank_biserial}


def _rates(rows: Sequence[tuple[float, bool]]) -> Any:
    return error_rate_by_bias(*map(list, zip(*rows, strict=True)), n_groups=4)


def _both(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda row: (change(row[0]), change(row[1]))


_LSTM = baselines.LSTMForConditionalGeneration
_CONVS2S = baselines.ConvS2SForConditionalGeneration
_LSTM_SIZES = {
    **{"encoder_embed_dim": 10, "encoder_hidden_size": 8, "encoder_bidirectional": True},
    **{"decoder_embed_dim": 12, "decoder_hidden_size": 14, "decoder_out_embed_dim": 12},
    **{"num_hidden_layers": 2, "max_position_embeddings": N_POSITIONS},
}
_LAYERS = ((12, 3, 1), (16, 2, 2))
_CONVS2S_SIZES = {
    **{"d_model": 12, "decoder_out_embed_dim": 12, "decoder_attention": (False, True)},
    **{"encoder_convolutions": _LAYERS, "decoder_convolutions": _LAYERS},
    **{f"max_{side}_positions": N_POSITIONS for side in ("source", "target")},
}


def _saver(model_class: Any, sizes: dict[str, Any]) -> Callable[[Path], Path]:
    def save(folder: Path) -> Path:
        save_tiny_marian(folder, max_positions=N_POSITIONS)
        names = ("vocab_size", "pad_token_id", "eos_token_id", "decoder_start_token_id")
        marks = {name: read_json(folder / "config.json")[name] for name in names}
        model = model_class(model_class.config_class(**sizes, **marks, tie_word_embeddings=False))
        torch.manual_seed(9)
        for weight in model.parameters():
            torch.nn.init.normal_(weight, std=0.3)
        model.save_pretrained(folder)
        return folder

    return save


def _plain(compute: Callable[..., Any], **options: Any) -> Callable[[Path, str, str], torch.Tensor]:
    def plain_logprobs(folder: Path, source: str, translation: str) -> torch.Tensor:
        """Score by the model written out in float64, from the file of weights."""
        projection = "decoder.fc3" if options else "decoder.fc_out"
        weights = {
            name.replace("lm_head", projection).removeprefix("model."): weight
            for name, weight in load_file(folder / "model.safetensors").items()
        }
        tokenizer = MarianTokenizer.from_pretrained(folder)
        ids = tokenizer(source)["input_ids"], tokenizer(text_target=translation)["input_ids"]
        return torch.from_numpy(compute(weights, *ids, start=tokenizer.pad_token_id, **options))

    return plain_logprobs


_SUMMARY = json.dumps({"signature": "", "corpus": "0a", "n_pairs": 1, "clusters": {}})
_WITH_PAIRS = {"pairs.jsonl": _texts(_PAIR)}
_WITH_LEXICON = {**_WITH_PAIRS, "lexicon.json": _LEXICON}
_CUES = '{"spring": {"1": ["summer"], "2": ["water"]}}'

CASES = ContractCases(
    families={
        "convs2s": FamilyCase(
            _saver(_CONVS2S, _CONVS2S_SIZES), _plain(convs2s_logprobs, layers=(_LAYERS, _LAYERS))
        ),
        "lstm": FamilyCase(_saver(_LSTM, _LSTM_SIZES), _plain(lstm_logprobs)),
    },
    torch_modules=("baselines",),
    figures={
        # a tenth of an odd number of rows and one of twice as many can end elsewhere
        "attacks": FigureCase(attack, lambda r: replace(attack_figures(r), by_bias=()), again),
        "agreement": FigureCase(attack, lambda r: judge_agreement(r, bootstrap=_FEW), again),
        "transfer": FigureCase(attack_twice, transfer, _both(again), lambda row: row[::-1]),
        "errors and bias": FigureCase(
            lambda _, draw: (draw.randrange(9) / 10, draw.random() < 0.4),
            _correlation,
            turned=lambda row: (row[0], not row[1]),
            of_turned=opposed("x"),
        ),
        "errors by bias": FigureCase(lambda _, draw: (draw.random(), draw.random() < 0.4), _rates),
    },
    kept_files=(
        KeptFile("table.json", _TABLE, read_table, _biases, _WITH_PAIRS),
        KeptFile("pairs.jsonl", _texts(_PAIR, {**_PAIR, "id": "1"}), _all(read_pairs)),
        KeptFile("pairs.jsonl", _texts(_PAIR), _scored, others={"table.json": _TABLE}),
        KeptFile("pairs.summary.json", _SUMMARY, _counted, others=_WITH_LEXICON),
        KeptFile("lexicon.json", _LEXICON, read_lexicon),
        KeptFile("stop.json", '["the", "a"]', read_stop_words),
        KeptFile("samples.jsonl", _texts(_SAMPLE, {**_SAMPLE, "id": "1"}), _all(read_samples)),
        KeptFile("judgements.jsonl", _texts(_JUDGED), _all(read_judgements), _successes),
        KeptFile("cues.json", _CUES, read_cues),
    ),
    tables=(("published",),),
    reproduced={
        "evaluate sets": "test_commands.py",
        "study disambiguation_bias attack ": "attacks/test_commands.py",
        "study disambiguation_bias attractors": "test_commands.py",
        "study disambiguation_bias compare-models": "test_commands.py",
        "study disambiguation_bias correlate": "test_commands.py",
    },
)
