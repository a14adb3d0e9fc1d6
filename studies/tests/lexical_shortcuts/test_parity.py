"""Models with lexical shortcuts compute what the authors' programs recorded."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from cc_hf_studies.lexical_shortcuts.model import LexicalShortcutForConditionalGeneration
from cc_hf_studies.lexical_shortcuts.model.layers import gated
from safetensors.torch import load_file
from transformers import AutoModelForSeq2SeqLM, LogitsProcessorList

import cc_hf
from cc_hf.evaluators.options import LoadingOptions
from cc_hf.plugins.conversion.convert import convert
from cc_hf.plugins.conversion.evaluator import FairseqEvaluator
from cc_hf.plugins.conversion.tokenizer import FairseqTokenizer
from cc_hf.systems.translate import translate
from tests.helpers.fairseq_models import save_fairseq
from tests.helpers.usual import known, read_json, typed, write_lines

pytestmark = pytest.mark.shared

_EXACT = 1e-5
_TRAINED = 1e-4
_PAD, _EOS = 1, 2

Tensors = dict[str, torch.Tensor]


def _gold(folder: Path) -> tuple[dict[str, Any], Tensors, Tensors]:
    """Return the record of a small model: settings and beams, weights, inputs and outputs."""
    tensors = (load_file(folder / f"{name}.safetensors") for name in ("model", "io"))
    return read_json(folder / "config_and_gold.json"), *tensors


@pytest.fixture(scope="module", params=("lexical", "feature_fusion"))
def recorded(
    request: pytest.FixtureRequest, shared: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[LexicalShortcutForConditionalGeneration, dict[str, Any], Tensors]:
    """A converted model with what was recorded of it."""
    gold, weights, tensors = _gold(shared / "gold/lexical_shortcuts" / request.param)
    folder = tmp_path_factory.mktemp(request.param)
    save_fairseq(folder / "in", weights=weights, **gold["config"])
    n_pieces = len(weights["encoder.embed_tokens.weight"]) - 4
    for language in ("en", "de"):  # the dictionary is not recorded; its size is
        lines = [f"{number} 1" for number in range(n_pieces)]
        write_lines(folder / f"in/dict.{language}.txt", lines)
    converted = convert(folder / "in", output=folder / "out").folders[0]
    model = AutoModelForSeq2SeqLM.from_pretrained(converted)
    return typed(LexicalShortcutForConditionalGeneration, model).eval(), gold, tensors


def _largest(ours: torch.Tensor, theirs: torch.Tensor, real: torch.Tensor) -> float:
    """Return the largest difference at positions that are no padding."""
    return (ours - theirs)[real].abs().max().item()


@torch.inference_mode()
def test_states_gates_and_logits_equal_those_of_the_authors_fairseq(recorded: Any) -> None:
    model, gold, tensors = recorded
    assert sum(p.numel() for p in model.parameters()) == gold["n_params"]
    sources, inputs = tensors["src_tokens"], tensors["prev_output_tokens"]
    output = model(sources, decoder_input_ids=inputs, output_hidden_states=True, output_gates=True)
    source_real, target_real = sources != _PAD, inputs != _PAD
    logprobs = output.logits.log_softmax(-1)
    pairs = [
        (output.encoder_last_hidden_state, tensors["encoder_output"], source_real),
        (output.logits, tensors["decoder_logits"], target_real),
        (logprobs, tensors["decoder_log_probs"], target_real),
    ]
    for side, real, n_layers in (("encoder", source_real, 2), ("decoder", target_real, 3)):
        parts = {"hidden": output[f"{side}_hidden_states"]}  # the first are the embeddings
        parts.update({f"{kind}_gate": output[f"{side}_{kind}_gates"] for kind in ("key", "value")})
        assert [len(layers) for layers in parts.values()] == [n_layers + 1, n_layers, n_layers]
        for name, layers in parts.items():
            pairs += [(x, tensors[f"{side}_{name}.{i}"], real) for i, x in enumerate(layers)]
    assert max(_largest(*pair) for pair in pairs) < _EXACT
    targets = tensors["target"]
    for row, expected in enumerate(gold["positional_scores"]):
        labels = targets[row][targets[row] != _PAD]
        scores = logprobs[row, range(len(labels)), labels]
        assert scores.tolist() == pytest.approx(expected, abs=_EXACT)
        assert scores.mean().item() == pytest.approx(gold["sequence_scores"][row], abs=_EXACT)


@torch.inference_mode()
def test_gates_matter_as_recorded(recorded: Any) -> None:
    """A gate forced to 0 leaves the states alone, which changes the logits by some units."""
    model, gold, tensors = recorded
    inputs = tensors["prev_output_tokens"]
    biases = {k: weight for k, weight in model.state_dict().items() if k.endswith("gate_bias")}
    closed = {name: torch.full_like(weight, -1e9) for name, weight in biases.items()}
    given = (tensors["src_tokens"],), {"decoder_input_ids": inputs}
    output = torch.func.functional_call(model, closed, *given)
    change = _largest(output.logits, tensors["decoder_logits"], inputs != _PAD)
    expected = gold["checks"]["max|gate=0 - gold| logits (shortcut matters)"]
    assert change == pytest.approx(expected, abs=1e-4)


def test_beam_search_gives_the_recorded_best(recorded: Any) -> None:
    """As in fairseq, only EOS is allowed at the last step, with its own score."""
    model, gold, tensors = recorded

    def only_eos(ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        is_last = ids.shape[1] >= search["max_len_b"] + 1
        is_eos = torch.arange(scores.shape[-1]) == _EOS
        return scores.masked_fill(~is_eos, -torch.inf) if is_last else scores

    for search in gold["beam_search"]:
        options = {"num_beams": search["beam"], "length_penalty": search["lenpen"]}
        options |= {"max_new_tokens": search["max_len_b"] + 1}
        only = LogitsProcessorList([only_eos])
        output = model.generate(tensors["src_tokens"], **options, logits_processor=only)
        for ids, hypotheses in zip(output.tolist(), search["hypos"], strict=True):
            best = hypotheses[0]["tokens"]
            assert ids[1 : len(best) + 1] == best
            assert set(ids[len(best) + 1 :]) <= {_PAD}


@pytest.fixture(scope="module")
def trained(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The converted trained checkpoint, compared with its scores on the way."""
    folder = tmp_path_factory.mktemp("trained")
    gold = shared / "gold/lexical_shortcuts/trained"
    for path in (*gold.glob("dict.*.txt"), gold / "bpecodes", gold / "lexical/model.pt"):
        shutil.copy(path, folder)
    name = "positional_log_probs"
    recorded = _trained_gold(shared)["pairs"]
    pairs = [{**pair, "scores": {"model": {name: pair[name]}}} for pair in recorded]
    scores = write_lines(folder / "scores.json", [json.dumps({"pairs": pairs})])
    conversion = convert(folder, output=folder / "out", check=scores)
    assert conversion.families == ("lexical_shortcut",)
    assert known(conversion.check).deviations["model"] < _EXACT
    return conversion.folders[0]


def _trained_gold(shared: Path) -> Any:
    return read_json(shared / "gold/lexical_shortcuts/trained/lexical/gold.json")


def _texts(shared: Path) -> dict[int, dict[str, Any]]:
    """The texts of the pairs; the same corpus was used to record plain models."""
    pairs = read_json(shared / "gold/fairseq/joint/gold_scores.json")["pairs"]
    return {pair["id"]: pair for pair in pairs}


def test_ids_and_logprobs_of_a_trained_checkpoint_are_recorded(shared: Path, trained: Path) -> None:
    pairs, texts = _trained_gold(shared)["pairs"], _texts(shared)
    rows = [texts[pair["pair_id"]] for pair in pairs]
    sources, targets = ([row[side] for row in rows] for side in ("source", "target"))
    tokenizer = FairseqTokenizer.from_pretrained(trained)
    assert tokenizer.encode_sources(sources) == [pair["source_ids"] for pair in pairs]
    assert tokenizer.encode_targets(targets) == [pair["target_ids"] for pair in pairs]
    for batch_tokens in (1, 100_000):
        evaluator = typed(
            FairseqEvaluator, cc_hf.load_evaluator(trained, device="cpu", batch_tokens=batch_tokens)
        )
        logprobs = evaluator.token_logprobs(sources, targets, src_lang="en", tgt_lang="de")
        for row, pair in zip(logprobs, pairs, strict=True):
            assert row == pytest.approx(pair["positional_log_probs"], abs=_TRAINED)
            assert row.mean() == pytest.approx(pair["score"], abs=_TRAINED)


def test_a_trained_checkpoint_translates_as_recorded(shared: Path, trained: Path) -> None:
    searches, texts = _trained_gold(shared)["beam5_max_len_b60"], _texts(shared)
    model = AutoModelForSeq2SeqLM.from_pretrained(trained)
    tokenizer = FairseqTokenizer.from_pretrained(trained)
    on_cpu = LoadingOptions(device="cpu")
    for search in searches:
        pair, best = texts[search["pair_id"]], search["hypos"][0]["tokens"]
        ids = model.generate(torch.tensor([pair["source_ids"]]), max_new_tokens=60)
        assert ids[0, 1:].tolist() == best
        translations = translate([pair["source"]], trained, loading=on_cpu)
        assert translations == tokenizer.batch_decode([best])
    evaluator = typed(FairseqEvaluator, cc_hf.load_evaluator(trained, device="cpu"))
    rows = [(texts[s["pair_id"]]["source_ids"], h) for s in searches for h in s["hypos"]]
    logprobs = evaluator.id_logprobs([ids for ids, _ in rows], [h["tokens"] for _, h in rows])
    for row, (_, hypothesis) in zip(logprobs, rows, strict=True):
        assert row == pytest.approx(hypothesis["positional_scores"], abs=_TRAINED)
        assert row.mean() == pytest.approx(hypothesis["score"], abs=_TRAINED)


def test_equations_of_the_gates_are_those_of_the_first_program(shared: Path) -> None:
    """The first layer of the first program, whose input is known: E is the first hidden state."""
    _, weights, tensors = _gold(shared / "gold/lexical_shortcuts/tf_lexical")
    embedded, real = tensors["encoder_hidden.0"], tensors["src_mask"] > 0
    prefix = "encoder.layer_1.self_attn_sublayer"
    for kind in ("key", "value"):
        names = (f"{prefix}.{name}_projection" for name in (f"sc_{kind}s", f"{kind}s"))
        maps = (weights[f"{name}.dense_layer_weights"] for name in names)  # stored [in, out]
        shortcut, hidden = (F.linear(embedded, weight.T) for weight in maps)
        _, gate = gated(shortcut, hidden, weights[f"{prefix}.{kind}_gate_bias"])
        assert _largest(gate, tensors[f"encoder_{kind}_gate.0"], real) < _EXACT
