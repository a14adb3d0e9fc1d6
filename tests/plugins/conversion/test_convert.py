import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModelForSeq2SeqLM

import cc_hf
from cc_hf.errors import EvaluatorError, MissingDependencyError
from cc_hf.normalization import composed
from cc_hf.plugins.conversion.convert import Conversion, convert
from cc_hf.plugins.conversion.evaluator import FairseqEvaluator
from cc_hf.plugins.conversion.tokenizer import (
    FairseqTokenizer,
    Settings,
    read_codes,
    read_dictionary,
)
from tests.helpers.fairseq_models import both, options, reference_logprobs, save_fairseq
from tests.helpers.usual import cases, fails, invoke, refuses, run_command

_PAIRS = [
    ([5, 9, 30, 2], [7, 2]),
    ([11, 2], [12, 13, 14, 15, 16, 17, 18, 40, 2]),
    ([3, 3, 22, 23, 24, 25, 26, 27, 28, 2], [9, 3, 8, 7, 2]),
    ([2], [2]),
    ([6, 43, 2], [2]),
]
_SEPARATE: dict[str, Any] = {"share_all_embeddings": False}
_PRE_NORM = both(normalize_before=True)
_LEARNED = both(learned_pos=True)
_MBART = {**both(normalize_before=True, learned_pos=True), "layernorm_embedding": True}
_NORMS = {**_PRE_NORM, "layernorm_embedding": True}
_GELU = {"activation_fn": "gelu"}
_BART = {**_LEARNED, **_GELU, "layernorm_embedding": True, "no_scale_embedding": True}


def converted(folder: Path, **given: Any) -> Conversion:
    return convert(folder / "in", **{"output": folder / "out", **given})


@cases(
    ("fsmt", {}),
    ("fsmt", {**_SEPARATE, "encoder_layers": 3, "decoder_attention_heads": 4}),
    ("fsmt", {**_SEPARATE, "decoder_ffn_embed_dim": 40}),
    ("m2m_100", _PRE_NORM),
    ("m2m_100", {**_PRE_NORM, "encoder_layers": 1, "decoder_layers": 3, **_GELU}),
    ("mbart", _MBART),
    ("bart", _BART),
    ("bart", {**_BART, "no_scale_embedding": False, "activation_fn": "relu"}),
)
def test_converted_models_score_alike(family: str, changes: dict[str, Any], tmp_path: Path) -> None:
    weights, actual = save_fairseq(tmp_path / "in", **changes), converted(tmp_path)
    evaluator: Any = cc_hf.load_evaluator(actual.folders[0], device="cpu", batch_tokens=1000)
    assert type(evaluator) is FairseqEvaluator
    assert actual.families == (evaluator.model.config.model_type,) == (family,)
    assert evaluator.max_tokens == (32 if "learned" in str(changes) else 1024)
    sources, targets = ([list(pair[side]) for pair in _PAIRS] for side in (0, 1))
    logprobs = evaluator.id_logprobs(sources, targets)
    scores = evaluator.score_batch(sources, targets)
    for row, (source, target) in enumerate(_PAIRS):
        expected = reference_logprobs(weights, options(**changes), source, target)
        assert np.abs(logprobs[row] - expected).max() < 1e-5
        assert scores.sum_logprob[row] == pytest.approx(expected.sum(), abs=1e-4)
        assert scores.n_tokens[row] == len(target)
        assert scores.mean_probability[row] == pytest.approx(np.exp(expected).mean(), abs=1e-5)


@pytest.mark.parametrize("changes", [_SEPARATE, _PRE_NORM], ids=["separate", "pre-norm"])
def test_odd_texts_in_a_batch_score_as_alone(tmp_path: Path, changes: dict[str, Any]) -> None:
    save_fairseq(tmp_path / "in", **changes)
    folder = converted(tmp_path).folders[0]
    texts = [
        "",
        " ",
        "a",
        "the cat",
        "it's @-@ @@",
        "a b " * 250,
        "😀 \u202eשלום",
        "x\u2028y\x85z\x00",
        "<s> </s> <pad>",
    ]
    sources, targets = ([text for text in texts for _ in texts], texts * len(texts))
    evaluator = cc_hf.load_evaluator(folder, device="cpu", batch_tokens=3000)
    scores = evaluator.mean_logprobs(sources, targets)
    model = AutoModelForSeq2SeqLM.from_pretrained(folder)
    tokenizer = FairseqTokenizer.from_pretrained(folder)
    for source, target, score in zip(sources, targets, scores, strict=True):
        (target_ids,) = tokenizer.encode_targets([composed(target)])
        ids, inputs = (
            tokenizer.encode_sources([composed(source)]),
            torch.tensor([[2, *target_ids[:-1]]]),
        )
        with torch.inference_mode():
            logits = model(torch.tensor(ids), decoder_input_ids=inputs, use_cache=False).logits[0]
        expected = logits.log_softmax(-1)[range(len(target_ids)), target_ids].mean().item()
        assert score == pytest.approx(expected, abs=1e-5)


@cases(
    ("share_all_.*=False .* encoder_normalize_before=True", {**_PRE_NORM, **_SEPARATE}),
    ("share_all_.*=False .* encoder_normalize_before=True", {**_MBART, **_SEPARATE}),
    ("share_all_embeddings=False .* with encoder_learned_pos=True", {**_BART, **_SEPARATE}),
    ("layernorm_embedding=False .* post-norm with encoder_learned_pos=True", _LEARNED),
    ("layernorm_.*=False .* pre-norm .*learned_pos=True", {**_LEARNED, **_PRE_NORM}),
    ("layernorm_.*=True .* post-norm .*learned_pos=False", {"layernorm_embedding": True}),
    ("layernorm_embedding=True .* pre-norm with encoder_learned_pos=False", _NORMS),
    ("encoder_normalize_before=True .*=False differ", {"encoder_normalize_before": True}),
    ("encoder_learned_pos=False and .*_pos=True differ", {"decoder_learned_pos": True}),
    ("adaptive_softmax_cutoff='100,200'", {"adaptive_softmax_cutoff": "100,200"}),
    ("no_token_positional_embeddings=True", {"no_token_positional_embeddings": True}),
    ("cross_self_attention=True", {"cross_self_attention": True}),
    ("no_decoder_final_norm=True", {"no_decoder_final_norm": True, **_PRE_NORM}),
    ("encoder_layers_to_keep='0,2'", {"encoder_layers_to_keep": "0,2"}),
    ("decoder_output_dim=8 differs from encoder_embed_dim=16", {"decoder_output_dim": 8}),
    ("activation_fn='swish'", {"activation_fn": "swish"}),
    ("task='multilingual_translation'", {"task": "multilingual_translation"}),
    ("encoder_embed_dim", {"without": ["encoder_embed_dim"]}),
    ("decoder_attention_heads", {"without": ["decoder_attention_heads"]}),
    ("bpe='sentencepiece'", {"bpe": "sentencepiece"}),
    ("source_lang='en/../en'", {"source_lang": "en/../en"}),
    ("encoder_.*='two', expected a number from 1 to", {"encoder_attention_heads": "two"}),
)
def test_others_are_refused_by_name(reason: str, changes: dict[str, Any], tmp_path: Path) -> None:
    save_fairseq(tmp_path / "in", arch="my_transformer", **changes)
    fails(
        EvaluatorError,
        rf"model1\.pt: the architecture 'my_transformer' cannot be converted: {reason}",
        converted,
        tmp_path,
    )
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_weights_that_do_not_fit_the_options_are_refused(tmp_path: Path) -> None:
    weights = save_fairseq(tmp_path / "in")
    bias, norm = "decoder.layers.1.fc1.bias", "encoder.layer_norm"
    without = {name: weight for name, weight in weights.items() if name != bias}
    other_shape = {**weights, bias: torch.zeros(3)}
    post_norm = weights | {f"{norm}.{name}": torch.zeros(16) for name in ("weight", "bias")}
    rows = weights | {
        name: torch.cat([weight, weight[:2]])
        for name, weight in weights.items()
        if "embed_tokens" in name or "output_projection" in name
    }
    for changed, reason in (
        (without, r"the weight decoder\.layers\.1\.fc1\.bias is missing \(1 in all\)"),
        (other_shape, r"its weights do not fit its options: .*decoder\.layers\.1\.fc1\.bias"),
        (post_norm, r"the weight encoder\.layer_norm\.weight has no place in it \(2 in all\)"),
        (rows, r"encoder\.embed_tokens\.weight has 58 rows, the dictionary has 56 symbols"),
    ):
        save_fairseq(tmp_path / "in", weights=changed)
        fails(
            EvaluatorError,
            f"the architecture 'transformer' cannot be converted: {reason}",
            converted,
            tmp_path,
        )


@cases(
    ({"encoder_layers": 10**9}, "encoder_layers=1000000000, .* from 1 to"),
    ({"decoder_layers": 10**6}, "decoder_layers=1000000, its weights have 2 layers"),
    ({"encoder_layers": 3}, "encoder_layers=3, its weights have 2 layers"),
    ({"encoder_layers": 2.0}, r"encoder_layers=2\.0, expected a number"),
    ({"encoder_layers": 10**500}, "encoder_layers=10+"),
    ({"encoder_ffn_embed_dim": 2**24}, "its weights do not fit its options"),
    (both(embed_dim=2**24), r"has the shape \(56, 16\)"),
    ({"decoder_attention_heads": 3}, "is no multiple of decoder_attention_heads=3"),
    ({"max_source_positions": 2**23}, "max_source_positions=8388608 .* at most 67108864"),
    ({"max_target_positions": "many"}, "max_target_positions='many', expected a number"),
    ({"dropout": float("nan")}, "dropout=nan, expected a number from 0 to 1"),
    ({"activation_fn": [[1]]}, "activation_fn='a value of class list', expected one of"),
    ({"adaptive_input": np.arange(3)}, "adaptive_input='a value of class ndarray'"),
    ({"source_lang": torch.ones(2)}, "source_lang='a value of class Tensor'"),
)
def test_declared_sizes_are_checked(changes: dict[str, Any], reason: str, tmp_path: Path) -> None:
    if "max_source_positions" in changes:
        changes = {**changes, "max_target_positions": 2**23}
    save_fairseq(tmp_path / "in", weights=save_fairseq(tmp_path / "in"), **changes)
    fails(EvaluatorError, f"model1.pt: .* cannot be converted: .*{reason}", converted, tmp_path)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e30])
def test_weights_that_are_not_finite_are_refused(tmp_path: Path, value: float) -> None:
    weights = save_fairseq(tmp_path / "in")
    weights["decoder.layers.1.fc1.bias"][3] = value
    save_fairseq(tmp_path / "in", weights=weights)
    fails(EvaluatorError, r"in/model1\.pt: the weight .*fc1\.bias \(1 of its", converted, tmp_path)
    assert not (tmp_path / "out").exists()


def test_learned_positions_of_two_lengths_are_refused(tmp_path: Path) -> None:
    weights = save_fairseq(tmp_path / "in", **_BART)
    weights["decoder.embed_positions.weight"] = weights["decoder.embed_positions.weight"][:20]
    save_fairseq(
        tmp_path / "in", weights=weights, **_BART, max_source_positions=32, max_target_positions=18
    )
    fails(
        EvaluatorError, "max_source_positions=32 and max_target_positions=18", converted, tmp_path
    )


def test_each_side_uses_its_own_bpe_codes(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    save_fairseq(folder, share_all_embeddings=False)
    (note,) = converted(tmp_path, output=tmp_path / "one").notes
    assert "two dictionaries but one file of BPE codes" in note
    (folder / "bpecodes.de").write_text("#version: 0.2\nc a\nca t</w>\n", encoding="utf-8")
    actual = converted(tmp_path)
    assert not actual.notes
    tokenizer = FairseqTokenizer.from_pretrained(actual.folders[0])
    c, a, t = (4 + 2 * "abcdefghijklmnopqrstuvwxyz".index(letter) for letter in "cat")
    # c@@ at: "at" is not in the dictionary
    assert tokenizer.encode_sources(["cat"]) == [[c + 1, 3, 2]]
    assert tokenizer.encode_targets(["cat", "", "a b"]) == [[3, 2], [2], [a, a + 2, 2]]
    (folder / "bpecodes").unlink()
    fails(EvaluatorError, r"^codes: the file .*bpecodes", convert, folder, output=tmp_path / "none")
    named = convert(
        folder, output=tmp_path / "named", source_codes=folder / "bpecodes.de", tokenizer="space"
    ).folders[0]
    ids = FairseqTokenizer.from_pretrained(named).encode_sources(["c'a t"])
    assert ids == [[c + 1, 3, a, t, 2]]


def test_folders_without_the_needed_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    refuses("expected checkpoints", converted, tmp_path)
    save_fairseq(tmp_path / "in")
    refuses(r"there is no checkpoint model2\.pt", converted, tmp_path, checkpoints=["model2"])
    refuses("tokenizer: expected one of moses, space", converted, tmp_path, tokenizer="nltk")
    refuses("exists and is not an empty folder", converted, tmp_path, output=tmp_path / "in")
    (tmp_path / "in/dict.de.txt").unlink()
    fails(EvaluatorError, r"the dictionary .*dict\.de\.txt is missing", converted, tmp_path)


def test_an_incomplete_converted_folder_is_refused(tmp_path: Path) -> None:
    save_fairseq(tmp_path / "in")
    folder = converted(tmp_path).folders[0]
    settings = (folder / "cc_hf_tokenizer.json").read_text(encoding="utf-8")
    for text, reason in (
        (settings.replace('"format": 1', '"format": 2'), "expected format 1, got 2"),
        ("{", "is malformed"),
        ('{"unknown": 1}', "is malformed"),
    ):
        (folder / "cc_hf_tokenizer.json").write_text(text, encoding="utf-8")
        fails(EvaluatorError, reason, FairseqTokenizer.from_pretrained, folder)
    (folder / "cc_hf_tokenizer.json").unlink()
    fails(EvaluatorError, r"file cc_hf_tokenizer\.json is missing", cc_hf.load_evaluator, folder)
    fails(
        EvaluatorError,
        r"somebody/model: cc_hf_tokenizer\.json could not be",
        FairseqTokenizer.from_pretrained,
        "somebody/model",
    )


def test_dictionaries_are_read_and_malformed_lines_named() -> None:
    text = "a b 1\nc 2 #fairseq:overwrite\nc 3 #fairseq:overwrite\n"
    assert read_dictionary(text) == read_dictionary(text.replace("\n", "\r\n")) == ["a b", "c", "c"]
    for text, reason in (
        ("a\n", "line 1: expected \"symbol count\", got 'a'"),
        ("a 1\n\nb 1\n", "line 2"),
        ("a 1\na 2\n", "line 2: 'a' occurs twice"),
        ("<pad> 1\n", "'<pad>' occurs"),
    ):
        fails(EvaluatorError, reason, read_dictionary, text)


def test_bpe_codes_are_normalized_and_malformed_lines_named() -> None:
    codes = "#version: 0.2\na b\nc d\n"
    assert read_codes("a b 3\nc d 2\n") == read_codes(codes) == codes
    assert read_codes("a b\n") == "a b\n"  # subword-nmt before 0.2
    for text in ("a b 1\nc\n", "a b 1\nc d\n", "a b x\n", "a b 1 2\n"):
        fails(EvaluatorError, 'expected "left right"', read_codes, text)


def test_repeated_symbols_use_the_last_id_and_unknown_ones_stay_unknown() -> None:
    tokenizer = FairseqTokenizer(
        Settings("en", "de"),
        dictionaries=("x 1\ny 1\nx 1 #fairseq:overwrite\n", "x@@ 1\n<< 1\n"),
        codes=("a b 1\n", "a b 1\n"),
    )
    assert tokenizer(["x y z"]) == {"input_ids": [[6, 5, 3, 2]]}
    assert tokenizer.batch_decode([[2, 4, 5, 3, 2, 1]]) == ["x<< <unk>"]
    assert tokenizer.batch_decode([[4, 5, 2]], skip_special_tokens=False) == ["x<< </s>"]


def test_missing_subword_nmt_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_fairseq(tmp_path / "in")
    monkeypatch.setitem(sys.modules, "subword_nmt.apply_bpe", None)
    fails(MissingDependencyError, "'subword-nmt', which is not installed", converted, tmp_path)


def test_convert_command_writes_and_reports(tmp_path: Path) -> None:
    def printed(output: str, *options: object) -> str:
        actual = invoke("convert", tmp_path / "in", "--output", tmp_path / output, *options)
        assert actual.exit_code == 0, actual.output
        return actual.output

    weights = save_fairseq(tmp_path / "in", **_SEPARATE)
    actual = printed("out")
    assert len({path.stat().st_mode for path in (tmp_path / "out/model1").iterdir()}) == 1
    assert "out/model1  fsmt, en-de" in actual
    assert "note: two dictionaries but one file of BPE codes" in actual
    assert "scores were not checked" in actual
    source, target = _PAIRS[0]
    logprobs = reference_logprobs(weights, options(), source, target).tolist()
    pair = {"source_ids": source, "target_ids": target, "scores": _scores("model1", *logprobs)}
    (tmp_path / "scores.json").write_text(json.dumps({"pairs": [pair]}), encoding="utf-8")
    actual = printed("checked", "--check", tmp_path / "scores.json")
    assert "model1: largest deviation of 2 log-probabilities " in actual
    assert "ids were not checked: the file holds no texts" in actual
    assert "note:" not in printed("quiet", "--quiet")


def _scores(model: str, *logprobs: float) -> dict[str, Any]:
    return {model: {"positional_log_probs": logprobs}}


@cases(
    (" --fairseq-option codes=".join(["in", *"abc"]), "codes: expected one file, or one"),
    ("in --fairseq-option codes=a", "codes: the file of BPE codes a is missing"),
    ("out", "expected a name such as bergamot:en-pt, a folder with model"),
    ("bergamot:en-pt --check x", "check: expected a folder with checkpoints of fairse"),
    ("bergamot:en-xx", "unknown student of Bergamot 'bergamot:en-xx'"),
)
def test_unfit_commands_are_refused(arguments: str, message: str, tmp_path: Path) -> None:
    save_fairseq(tmp_path / "in")
    (tmp_path / "out").mkdir()
    command = "convert", *arguments.split(), "--output", "new"
    assert message in " ".join(run_command(*command, cwd=tmp_path, status=2).stderr.split())
    assert not (tmp_path / "new").exists()


@cases(
    ([], 'expected a JSON object with "pairs"'),
    ({"pairs": []}, "pairs: expected at least one item"),
    ({"pairs": [{"scores": {}}]}, "pair 0: expected the key 'source_ids'"),
    ({"model1": {}}, "pair 0: scores: model1: expected the key 'positional_log_probs'"),
    (_scores("other", 0), "no scores of model1; it has scores of other"),
    (_scores("model1", 0, 1), "pair 0 has 2 log-probabilities"),
)
def test_malformed_files_of_scores_are_refused(content: Any, reason: str, tmp_path: Path) -> None:
    save_fairseq(tmp_path / "in")
    if content and "pairs" not in content:
        content = {"pairs": [{"source_ids": [2], "target_ids": [2], "scores": content}]}
    (tmp_path / "scores.json").write_text(json.dumps(content), encoding="utf-8")
    refuses(reason, converted, tmp_path, check=tmp_path / "scores.json")
