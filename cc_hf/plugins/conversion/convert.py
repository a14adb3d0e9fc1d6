"""Conversion of a folder of fairseq checkpoints, dictionaries and BPE codes to one folder of
transformers per checkpoint.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cc_hf.errors import EvaluatorError, InputError, shown
from cc_hf.files import exists
from cc_hf.folders import new_folder
from cc_hf.models.weights import reported_loading
from cc_hf.plugins.conversion.architectures import build_model, registered_architecture
from cc_hf.plugins.conversion.check import ConversionCheck, read_check
from cc_hf.plugins.conversion.checkpoint import FairseqCheckpoint, read_checkpoint
from cc_hf.plugins.conversion.tokenizer import FairseqTokenizer, Settings

__all__ = ["Conversion", "convert"]


@dataclass(frozen=True)
class Conversion:
    """The outcome of a conversion."""

    folders: tuple[Path, ...]  # one per checkpoint
    families: tuple[str, ...]  # the model_type of each
    settings: Settings  # the same for all
    check: ConversionCheck | None  # None if no scores were given
    notes: tuple[str, ...]  # on what the user should check


def convert(
    folder: str | Path,
    *,
    output: str | Path,
    checkpoints: Sequence[str] | None = None,
    codes: str | Path | None = None,
    source_codes: str | Path | None = None,
    target_codes: str | Path | None = None,
    tokenizer: str = "moses",
    check: str | Path | None = None,
) -> Conversion:
    """Convert checkpoints to folders that `cc_hf.load_evaluator` and transformers load:
    OUTPUT/model1 for model1.pt, and so on.

    The output appears complete or not at all. Nothing is written if a log-probability deviates from
    the recorded one by more than `cc_hf.plugins.conversion.check.TOLERANCE`. `checkpoints` None
    stands for all *.pt of the folder, `codes` None for its "bpecodes".
    """
    target, origin = Path(output), Path(folder)
    model_folders: list[Path] = []
    families: list[str] = []
    with new_folder(target) as built:
        files = _checkpoints(origin, checkpoints)
        recorded = None if check is None else read_check(check)
        shared: _Tokenization | None = None
        for file in files:
            checkpoint = read_checkpoint(file)
            tokenization = _tokenization(
                origin, checkpoint, tokenizer, codes, source_codes, target_codes
            )
            if shared is not None and tokenization.settings != shared.settings:
                raise EvaluatorError(
                    f"checkpoints: the languages or tokenisation of {file.name} differ from those"
                    f" of {files[0].name}; convert it by itself"
                )
            shared = tokenization
            model_folders.append(built / file.stem)
            families.append(_write(checkpoint, tokenization, model_folders[-1]))
        if shared is None:
            raise InputError(f"{origin}: no checkpoint chosen")
        checked = None if recorded is None else recorded.compare(model_folders)
    folders = tuple(target / model_folder.name for model_folder in model_folders)
    return Conversion(folders, tuple(families), shared.settings, checked, tuple(shared.notes()))


@dataclass(frozen=True)
class _Tokenization:
    settings: Settings
    dictionaries: tuple[str, str]
    codes: tuple[str, str]

    def notes(self) -> list[str]:
        if self.dictionaries[0] != self.dictionaries[1] and self.codes[0] == self.codes[1]:
            return [
                "two dictionaries but one file of BPE codes: if each language has codes of its own,"
                " name the file of each. The archive of wmt19 en-ru holds those of one language"
                " only (fairseq issue 2928)"
            ]
        return []


def _checkpoints(folder: Path, names: Sequence[str] | None) -> list[Path]:
    if not folder.is_dir():
        raise InputError(f"no folder {str(folder)!r}")
    available = sorted(folder.glob("*.pt"))
    if names is None and not available:
        raise InputError(f"{folder}: expected checkpoints (*.pt), there are none")
    paths = (
        available
        if names is None
        else [
            folder / (name if name.endswith(".pt") else f"{name}.pt")
            for name in dict.fromkeys(names)
        ]
    )
    for path in paths:
        if path not in available:
            raise InputError(
                f"{folder}: there is no checkpoint {path.name}; there are"
                f" {', '.join(p.name for p in available) or 'none'}"
            )
    return paths


def _tokenization(
    folder: Path,
    checkpoint: FairseqCheckpoint,
    tokenizer: str,
    codes: str | Path | None,
    source_codes: str | Path | None,
    target_codes: str | Path | None,
) -> _Tokenization:
    options = checkpoint.options
    if (bpe := options.get("bpe")) not in (None, "fastbpe", "subword_nmt"):
        raise checkpoint.refusal(f"bpe={shown(bpe)}, expected fastbpe or subword_nmt")
    languages = tuple(options.get(f"{side}_lang") for side in ("source", "target"))
    if not all(
        isinstance(language, str) and re.fullmatch(r"[\w-]+", language) for language in languages
    ):
        raise checkpoint.refusal(
            f"source_lang={shown(languages[0])} and target_lang={shown(languages[1])} do not name"
            " its languages"
        )
    source, target = (str(language) for language in languages)
    settings = Settings(
        source,
        target,
        tokenizer=tokenizer,
        moses_dash_splits=not options.get("moses_no_dash_splits", False),
        moses_escape=not options.get("moses_no_escape", False),
    )
    dictionaries = (
        _text(folder / f"dict.{source}.txt", "dictionary"),
        _text(folder / f"dict.{target}.txt", "dictionary"),
    )
    codes_by_side = tuple(
        _codes(folder, language, codes_of_side or codes)
        for language, codes_of_side in ((source, source_codes), (target, target_codes))
    )
    return _Tokenization(settings, dictionaries, (codes_by_side[0], codes_by_side[1]))


def _codes(folder: Path, language: str, requested: str | Path | None) -> str:
    codes_of_language = folder / f"bpecodes.{language}"
    path = (
        Path(requested)
        if requested is not None
        else codes_of_language
        if codes_of_language.is_file()
        else folder / "bpecodes"
    )
    if not exists(path):
        raise EvaluatorError(f"codes: the file of BPE codes {path} is missing; name another one")
    return _text(path, "file of BPE codes")


def _text(path: Path, what: str) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise EvaluatorError(f"the {what} {path} is missing") from error
    except (OSError, UnicodeDecodeError) as error:
        raise EvaluatorError(f"the {what} {path} cannot be read: {error}") from error


def _write(checkpoint: FairseqCheckpoint, tokenization: _Tokenization, folder: Path) -> str:
    """Write model, both tokenizers' files and the README; return the model_type."""
    settings = tokenization.settings
    tokenizer = FairseqTokenizer(
        settings, dictionaries=tokenization.dictionaries, codes=tokenization.codes
    )
    model = build_model(
        checkpoint,
        langs=(settings.source_lang, settings.target_lang),
        vocabulary_sizes=tokenizer.vocabulary_sizes,
    )
    # This entry tells cc_hf, also on the Hub, which tokenizer to load.
    model.config.cc_hf_tokenizer = tokenizer.settings_file
    family = str(model.config.model_type)
    folder.mkdir()
    with reported_loading(checkpoint.path.name):
        model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    for path in folder.glob("*.safetensors"):  # safetensors writes files for the owner only
        path.chmod((folder / tokenizer.settings_file).stat().st_mode)
    for side, symbols in zip(("src", "tgt"), tokenizer.symbols, strict=True):
        _write_text(
            folder / f"vocab-{side}.json",
            json.dumps(_fsmt_vocabulary(symbols), ensure_ascii=False, indent=0) + "\n",
        )
    _write_text(
        folder / "merges.txt",
        "".join(
            line
            for line in tokenizer.codes[0].splitlines(keepends=True)
            if not line.startswith("#version")
        ),
    )
    fsmt: dict[str, Any] = {
        "tokenizer_class": "FSMTTokenizer",
        "langs": [settings.source_lang, settings.target_lang],
        "do_lower_case": False,
    }
    _write_text(
        folder / "tokenizer_config.json",
        json.dumps({**fsmt, "model_max_length": model.config.max_position_embeddings}, indent=2)
        + "\n",
    )
    registered = registered_architecture(family)
    _write_text(
        folder / "README.md",
        _README.format(
            file=checkpoint.path.name,
            architecture=checkpoint.architecture,
            class_name=type(model).__name__,
            words=_WORDS[settings.tokenizer],
            scoring=registered.scoring if registered else _SCORING,
            **vars(settings),
        ),
    )
    return family


def _fsmt_vocabulary(symbols: Sequence[str]) -> dict[str, int]:
    """Return the vocabulary of FSMTTokenizer, which marks the ends of words."""
    special = FairseqTokenizer.special
    # Fairseq instead marks pieces that continue.
    marked = [
        symbol.removesuffix("@@") if symbol.endswith("@@") else f"{symbol}</w>"
        for symbol in symbols[len(special) :]
    ]
    return {symbol: i for i, symbol in enumerate([*special, *marked])}


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


_WORDS = {"moses": "Moses by sacremoses", "space": "words at spaces"}
_SCORING = (
    "Score with `use_cache=False` and `decoder_input_ids` = `</s>` (2) + target without its last"
    " token;\npad on the right."
)
_README = """---
library_name: transformers
pipeline_tag: translation
language: [{source_lang}, {target_lang}]
---
# {file}, converted from fairseq

A model of fairseq (architecture `{architecture}`, {source_lang} to {target_lang}) as `{class_name}`, in float32, converted by `cc-hf convert`.

```python
import cc_hf

evaluator = cc_hf.load_evaluator("PATH/OF/THIS/FOLDER")  # tokenises and scores as fairseq does
```

`cc_hf` tokenises by `{settings_file}`, `dict.*.txt` and `codes.*.txt`, which needs no code from this folder: {words}, BPE by subword-nmt, the line of the
dictionary. In plain transformers `AutoTokenizer` gives an FSMTTokenizer for the source; it normalises punctuation first, has no `eos_token`, gives other ids
for some sentences, and its `text_target` must not be used. {scoring}
""".replace("{settings_file}", FairseqTokenizer.settings_file)  # noqa: E501
