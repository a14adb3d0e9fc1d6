"""Systems translate, also in int8 and by another library, and say so."""

import sys
import threading
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, MarianMTModel

import cc_hf
from cc_hf.errors import CCError, EvaluatorError, MissingDependencyError, ResultWarning
from cc_hf.evaluation.material import Material
from cc_hf.schema import ContrastiveSourceExample, Focus
from cc_hf.systems import translate as translation
from cc_hf.systems.backends import prepare
from cc_hf.systems.system import System
from cc_hf.systems.text_files import translate_file
from cc_hf.systems.translate import Translations, translate, translate_with
from tests.helpers import families
from tests.helpers.contract_cases import study_cases
from tests.helpers.models import save_tiny_marian
from tests.helpers.processes import together
from tests.helpers.usual import EN_DE, cases, fails, hash_scores, refuses, write_lines

_SOURCES = ["The nurse.", "The doctor asked.", "The nurse."]


_MBART_25 = partial(families.save_tiny_mbart, language_is_first=False)


@cases(  # the names of the languages, the option of `generate` that takes the second, the prompt
    ("marian", (), "", ""),
    ("m2m_100", ("en", "__de__"), "forced_bos_token_id", ""),
    ("nllb", ("eng_Latn", "deu_Latn"), "forced_bos_token_id", ""),
    ("mbart", ("en_XX", "de_DE"), "forced_bos_token_id", ""),
    ("mbart-25", ("en_XX", "de_DE"), "decoder_start_token_id", ""),
    ("fsmt", (), "", ""),
    ("lexical_shortcut", (), "", ""),
    ("t5", (), "", "translate English to German: "),
)
def test_translations_are_those_of_generate(
    family: str, languages: Any, first: str, before: str, tmp_path: Path
) -> None:
    families.BUILDERS.get(family, _MBART_25)(tmp_path)
    actual = cc_hf.translate(_SOURCES, tmp_path, **EN_DE, num_beams=2, batch_tokens=1)
    model = AutoModelForSeq2SeqLM.from_pretrained(tmp_path).eval()
    source_language = {"src_lang": languages[0]} if languages else {}
    tokenizer = AutoTokenizer.from_pretrained(tmp_path, **source_language)
    options = {first: tokenizer.convert_tokens_to_ids(languages[1])} if languages else {}
    options |= {"num_beams": 2, "do_sample": False}
    for source, translated in zip(_SOURCES, actual, strict=True):
        ids = tokenizer(before + source, return_tensors="pt")["input_ids"]
        options |= {"max_new_tokens": 3 * ids.shape[1] + 10}
        with torch.no_grad():
            (output,) = model.generate(ids, bad_words_ids=[[model.config.pad_token_id]], **options)
        words = output[2:] if first == "forced_bos_token_id" else output[1:]
        assert translated == " ".join(tokenizer.decode(words, skip_special_tokens=True).split())
    assert any(actual)


def test_bad_languages_sources_and_options_are_refused(tmp_path: Path) -> None:
    families.save_tiny_nllb(tmp_path)
    for sources, tgt_lang, message in (
        (["a"], "", "name the target language with tgt_lang"),
        (["a"], "tlh", "does not support the target language 'tlh'"),
        (["a", " "], "de", "row 1: the source is empty"),
        (["doctor nurse " * 500], "de", "row 0: the source has"),
        ([], "de", "at least one source"),
    ):
        fails(CCError, message, translate, sources, tmp_path, src_lang="en", tgt_lang=tgt_lang)


def test_processes_share_the_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = cc_hf.load_evaluator(families.BUILDERS["marian"](tmp_path))
    seen: list[tuple[int, int]] = []

    def generate(_: Any, rows: list[list[int]], *options: Any) -> list[list[translation.Output]]:
        seen.append((threading.get_ident(), len(rows)))
        return [[translation.Output(" ".join(map(str, row)), False)] for row in rows]

    monkeypatch.setattr(translation, "_generate", generate)
    sources = [f"The doctor {'asked ' * (i % 5)}{i}." for i in range(11)] * 2
    alone = translation.translate_with(model, sources, batch_size=2)
    assert [n for _, n in seen] == [2, 2, 2, 2, 2, 1]
    seen.clear()
    translate = partial(translation.translate_with, model)
    assert together(2, lambda team: translate(sources, batch_size=2, team=team)) == [alone, alone]
    assert sorted(n for _, n in seen) == [1, 2, 2, 2, 2, 2]
    assert len({thread for thread, _ in seen}) == 2
    other = together(2, lambda t: translate(sources[t.rank :], team=t, num_beams=1 + t.rank))
    message = "expected the same evaluator and the same pairs in all 2 processes"
    assert all(message in str(error) for error in other)
    refuses("batch_size: expected an integer of at least 1, got 0", translate, ["a"], batch_size=0)


@pytest.mark.parametrize("eos", [None, 0])
def test_cut_translations_are_reported(eos: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    model: Any = cc_hf.load_evaluator("cc-tiny-en-de")
    monkeypatch.setattr(model.model.generation_config, "forced_eos_token_id", eos)
    sources = ["The doctor is here.", "Yes.", "The doctor is here."]
    n_tokens = len(model.encode_targets(["Ja."], "en", "de")[0])
    whole, none = translation.translate_rows(model, sources)
    short, cut = translation.translate_rows(model, sources, max_new_tokens=n_tokens + 1)
    assert (none, cut, short[1]) == ([], [0, 2], whole[1])
    with pytest.warns(ResultWarning, match="2 of 3 translations were cut .* that of row 0"):
        translation.translate_with(model, sources, max_new_tokens=n_tokens + 1)


def example(number: int, context: str | None) -> ContrastiveSourceExample:
    extra = {} if context is None else {"context": context, "source_with_context": "any"}
    sides = ("The [male] cook left.",), ("The [female] cook left.",), "male", "male", extra
    return ContrastiveSourceExample(
        str(number), "en", "de", f"The cook left {number}.", Focus("cook", 4), *sides
    )


def test_the_context_stands_before_the_source_where_there_is_one() -> None:
    system = System("any", separator="<sep>")
    sources = system.sources([example(0, "He slept."), example(1, ""), example(2, None)])
    assert sources == ["He slept. <sep> The cook left 0.", "The cook left 1.", "The cook left 2."]
    assert System("any").sources([example(0, "He slept.")]) == ["The cook left 0."]
    refuses(
        "expected sources with sentences before them",
        system.sources,
        [example(0, ""), example(1, None)],
    )


@cases(("Er. <sep> Sie. <sep>Der Koch.", "Der Koch."), ("Der Koch.", "Der Koch."), ("Er <sep>", ""))
def test_the_last_sentence_follows_the_last_separator(written: str, expected: str) -> None:
    assert System("any", separator="<sep>").last_sentence(written) == expected
    assert System("any").last_sentence(written) == written


@cases(
    ({"num_beams": 0}, "num_beams: expected an integer of at least 1, got 0"),
    ({"num_beams": True}, "num_beams: expected an integer of at least 1, got True"),
    ({"separator": " "}, "separator: expected the text that the system was trained with"),
    ({"precision": "int4"}, "precision"),
    ({"backend": "onnx"}, "backend"),
)
def test_options_that_cannot_work_are_refused(options: dict[str, Any], message: str) -> None:
    refuses(message, System, "any", **options)


def test_the_last_sentences_of_a_system_are_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[str, int]] = []

    def fake(_: object, sources: Sequence[str], *, num_beams: int, **__: object) -> Translations:
        seen.extend((source, num_beams) for source in sources)
        return Translations(["Er schlief. <sep> Der Koch ging.", "Der Koch ging."], [])

    monkeypatch.setattr(translation, "translate_rows", fake)
    material = Material("en", "de", [example(0, "He slept."), example(1, "")])
    system = System("cc-tiny-en-de", num_beams=2, separator="<sep>")
    result = cc_hf.evaluate(material, system=system, evaluator=hash_scores)
    assert seen == [("He slept. <sep> The cook left 0.", 2), ("The cook left 1.", 2)]
    assert [j.translation for j in result.judgements] == ["Der Koch ging."] * 2
    assert result.counts["n_without_separator"] == 1
    assert "/beam2/context <sep>|" in result.signature


_LINES = ["The doctor asked the nurse to help her.", "The mechanic greeted the guard.", "Yes."]


@pytest.mark.parametrize("num_beams", [1, 5])
@cases(("int8", "torch"), ("fp32", "ctranslate2"), ("int8", "ctranslate2"))
def test_the_embedded_model_translates_alike(precision: str, backend: str, num_beams: int) -> None:
    if backend == "ctranslate2":
        pytest.importorskip("ctranslate2")
    given = partial(translate, _LINES, "cc-tiny-en-de", num_beams=num_beams)
    assert given(precision=precision, backend=backend) == given()


@pytest.mark.parametrize("family", ["marian", "nllb"])
@pytest.mark.parametrize("num_beams", [1, 4])
def test_ctranslate2_searches_as_transformers(tmp_path: Path, family: str, num_beams: int) -> None:
    pytest.importorskip("ctranslate2")
    model = cc_hf.load_evaluator(families.BUILDERS[family](tmp_path), **EN_DE)
    options: dict[str, Any] = {"num_beams": num_beams, "max_new_tokens": 6}
    actual = translate_with(prepare(model, backend="ctranslate2"), _LINES, **options)
    assert actual == translate_with(model, _LINES, **options)


@cases("fsmt", "t5", *(name for study in study_cases().values() for name in study.families))
def test_every_linear_layer_is_converted_to_int8_in_a_copy(family: str, tmp_path: Path) -> None:
    model: Any = cc_hf.load_evaluator(families.BUILDERS[family](tmp_path), **EN_DE)
    translated = partial(translate_with, sources=_LINES, num_beams=2, max_new_tokens=5)
    before, int8 = translated(model), prepare(model, precision="int8")
    assert not [m for m in int8.model.modules() if type(m) is torch.nn.Linear]  # type: ignore[attr-defined]
    assert (len(translated(int8)), translated(model)) == (len(_LINES), before)


def test_members_of_an_ensemble_are_converted_each(tmp_path: Path) -> None:
    folder = families.BUILDERS["marian"](tmp_path)
    loaded = (cc_hf.load_evaluator(model) for model in ([folder, folder], [folder]))
    models = (prepare(model, precision="int8") for model in loaded)
    ensemble, alone = (translate_with(m, _LINES, num_beams=2, max_new_tokens=5) for m in models)
    assert ensemble == alone


def test_a_model_that_fails_to_convert_is_reported(tmp_path: Path) -> None:
    pytest.importorskip("ctranslate2")
    # the tiny vocabulary lacks words that the converter adds to that of M2M100
    model = cc_hf.load_evaluator(families.BUILDERS["m2m_100"](tmp_path), **EN_DE)
    fails(EvaluatorError, r"not convert the .*; use torch", prepare, model, backend="ctranslate2")


def test_what_is_not_converted_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ctranslate2")
    tiny = cc_hf.load_evaluator("cc-tiny-en-de")
    assert prepare(tiny) is tiny
    other, averaging = (tmp_path / name for name in ("fsmt", "average_attention"))
    for folder in (other, averaging):
        folder.mkdir()
        families.BUILDERS[folder.name](folder)
    for model, options, message in (
        (other, {"backend": "ctranslate2"}, "type marian or m2m_100, which CTranslate2 runs, got"),
        (averaging, {"backend": "ctranslate2"}, "which CTranslate2 runs, got average_attention"),
        (["cc-tiny-en-de"] * 2, {"backend": "ctranslate2"}, "runs no ensembles"),
        ("cc-tiny-en-de", {"precision": "int4"}, "precision"),
        ("cc-tiny-en-de", {"backend": "onnx"}, "backend"),
    ):
        refuses(message, prepare, cc_hf.load_evaluator(model), **options)
    halved = cc_hf.load_evaluator("cc-tiny-en-de", dtype="bfloat16")
    refuses("in float32 for int8 by torch, got bfloat16", prepare, halved, precision="int8")
    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    fails(MissingDependencyError, "pip install ctranslate2", prepare, tiny, backend="ctranslate2")


def test_the_signature_of_a_translated_file_names_precision_and_backend(tmp_path: Path) -> None:
    source = write_lines(tmp_path / "source.txt", ["The doctor is here."])
    model = cc_hf.load_evaluator("cc-tiny-en-de")
    summary = translate_file(model, source, tmp_path / "int8.de", precision="int8")
    assert "/beam5/int8 torch|" in summary.signature
    assert (tmp_path / "int8.de").read_text(encoding="utf-8") == "Der Arzt ist hier.\n"


def test_a_system_names_how_it_computes_only_where_it_is_not_as_usual() -> None:
    assert System("m", 1).signature("m@1") == "m@1/beam1"
    assert System("m", 1, backend="ctranslate2").signature("m@1") == "m@1/beam1/fp32 ctranslate2"
    signature = System("m", 1, "<s>", precision="int8").signature("m@1")
    assert signature == "m@1/beam1/int8 torch/context <s>"


SOURCES = ["The nurse asked.", "The doctor asked the nurse to help her."]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    root = tmp_path_factory.mktemp("systems")
    for seed in (0, 1):
        folder = root / str(seed)
        save_tiny_marian(folder, seed=seed)
        model = MarianMTModel.from_pretrained(folder)
        with torch.no_grad():  # so that translations do not repeat one token
            for weights in model.parameters():
                weights.mul_(3 if weights.ndim > 1 else 1)
            model.final_logits_bias.zero_()
        model.generation_config.forced_eos_token_id = None
        model.config.forced_eos_token_id = None
        model.save_pretrained(folder)
    return [root / "0", root / "1"]


@pytest.fixture(scope="module")
def both(folders: list[Path]) -> Any:
    return cc_hf.load_evaluator(folders)


def mean_logprobs(evaluator: Any, ids: list[int], prefixes: list[list[int]]) -> torch.Tensor:
    """Return the logarithms of the mean probabilities of the next tokens, without any cache."""
    models = [member.model for member in evaluator.members]
    start = [models[0].config.decoder_start_token_id]
    inputs = {"decoder_input_ids": torch.tensor([start + prefix for prefix in prefixes])}
    inputs["input_ids"] = torch.tensor([ids] * len(prefixes))
    with torch.no_grad():
        logits = [model(**inputs).logits[:, -1].double() for model in models]
    return torch.stack(logits).softmax(dim=-1).mean(dim=0).log()


def greedy(evaluator: Any, ids: list[int], n: int) -> list[int]:
    config, prefix = evaluator.members[0].model.config, list[int]()
    while len(prefix) < n and (not prefix or prefix[-1] != config.eos_token_id):
        (logprobs,) = mean_logprobs(evaluator, ids, [prefix])
        logprobs[config.pad_token_id] = -torch.inf
        prefix.append(int(logprobs.argmax()))
    return prefix


def text_of(evaluator: Any, ids: list[int]) -> str:
    return " ".join(evaluator.members[0].tokenizer.decode(ids, skip_special_tokens=True).split())


def test_greedy_search_takes_the_highest_mean(folders: list[Path], both: Any) -> None:
    options: dict[str, Any] = {**EN_DE, "num_beams": 1, "max_new_tokens": 6}
    actual = translate_with(both, SOURCES, **options)
    encoded = both.encode_sources(SOURCES, **EN_DE)
    assert actual == [text_of(both, greedy(both, ids, 6)) for ids in encoded]
    members = map(cc_hf.load_evaluator, folders)
    assert actual not in [translate_with(member, SOURCES, **options) for member in members]


def test_a_beam_of_all_tokens_finds_the_best(both: Any) -> None:
    (ids,) = both.encode_sources(SOURCES[:1], **EN_DE)
    config = both.members[0].model.config
    (first,) = mean_logprobs(both, ids, [[]])
    tokens = [i for i in range(len(first)) if i != config.pad_token_id]
    end = config.eos_token_id
    scores: dict[tuple[int, ...], float] = {(end,): float(first[end])}
    begun = [token for token in tokens if token != end]
    for token, second in zip(begun, mean_logprobs(both, ids, [[t] for t in begun]), strict=True):
        scores |= {(token, last): float(first[token] + second[last]) / 2 for last in tokens}
    best = max(scores, key=lambda path: scores[path])
    options: dict[str, Any] = {"num_beams": len(tokens), "max_new_tokens": 2}
    assert translate_with(both, SOURCES[:1], **EN_DE, **options) == [text_of(both, list(best))]


def test_members_and_their_order_matter_only_by_their_mean(folders: list[Path]) -> None:
    a, b = folders

    def translated(*members: Path) -> list[str]:
        model = cc_hf.load_evaluator(members)
        return translate_with(model, SOURCES, **EN_DE, num_beams=3, max_new_tokens=8)

    assert translated(a, a) == translated(a)
    assert translated(a, b) == translated(b, a) != translated(b)
    assert translated(a) == translated(a, a)  # the hook is gone


@cases("m2m_100", "fsmt", "t5", "bergamot", "mbart", "average_attention")
def test_every_family_translates_as_an_ensemble(family: str, tmp_path: Path) -> None:
    folder = families.BUILDERS[family](tmp_path)
    models = (cc_hf.load_evaluator(of, **EN_DE) for of in (folder, [folder, folder]))
    alone, twice = (translate_with(m, SOURCES, num_beams=2, max_new_tokens=9) for m in models)
    assert twice == alone


def test_models_that_do_not_translate_are_refused(folders: list[Path], tmp_path: Path) -> None:
    families.save_tiny_causal_lm(tmp_path)
    refuses("does not translate: expected a sequence-to-sequence", translate, ["a"], tmp_path)
    families.save_tiny_m2m100(tmp_path / "other")
    other, message = tmp_path / "other", "expected members with the same tokenizer and vocab"
    refuses(message, translate, SOURCES, [folders[0], other], **EN_DE)
