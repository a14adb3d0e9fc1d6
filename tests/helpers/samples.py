"""Samples of datasets whose files are pinned only by their commit and are absent here: files in
`tests/test_sets/<name>/samples/`, laid out as upstream lays them out, or made here.
"""

import csv
import io
import itertools
import json
from pathlib import Path

from cc_hf.data.loading import SAMPLE_SIZES, declaration

#: Dataset -> its files whose sample is one example.
_ONE_EXAMPLE = {"ctxpro": "*/*/paper/*/*.json", "distil_lingeval": "*/*/data/*/src.en"}
#: made up, in the format of DistilLingEval, with the line without a source that upstream has
_DISTIL = {
    "src.en": "He is not here.\n\n",
    "tgt.correct.de": "Er ist nicht hier.\nJa.\n",
    "tgt.incorrect.de": "Er ist hier.\nNein.\n",
}


def _ctxpro(path: Path) -> str:
    """Return one example in the format of CTXPRO, or its sentence with the one before."""
    source = "Yes, you did."
    if path.suffix != ".json":
        return f"I saw him.<eos> {source}\n"
    return json.dumps(
        [
            {
                "expected": "saw",
                "src segment": source,
                "ref segment": "Du sahst.",
                "rule": "DO.ELL",
                "segment id": 1,
                "document id": "de-en/1",
            }
        ]
    )


def mittens_rows(config: str) -> str:
    """Return rows in the format of MiTTenS, made up, of a language pair.

    The name of the last column holds a line break upstream, too.
    """
    source, _, target = config.partition("-")
    lang, kind = (target, "2xx") if source == "en" else (source, "2en")
    names = (
        *("", "inputs", "targets", "lang", "lang_resource_level", "encoded_gender"),
        *("eval_set_key", "prompting_key", "model_input_hash", "example", "example_hash"),
        *("split", "format", "eval_set_family", "\nA canary."),
    )
    passages = (
        ("feminine", "My wife has her own shop."),
        ("masculine", "My husband has his own shop."),
        ("feminine", 'The guard told the nurse that she was "late".'),
        ("masculine", "She told him."),
    )
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(names)
    splits = ("all",) if kind == "2xx" else ("test", "validation")
    for number, (split, (gender, english)) in enumerate(itertools.product(splits, passages)):
        texts = (english, f"{lang} {number}") if kind == "2xx" else (f"{lang} {number}", english)
        head = (number, f"Translate.\n\n{texts[0]}", texts[1], lang, "high", gender)
        rows.writerow((*head, "coref:made", "k", "h", texts[0], "h", split, kind, "made", ""))
    return out.getvalue()


def is_sampled(name: str, config: str) -> bool:
    """Return whether a file of the configuration is pinned only by its commit."""
    return not all(file.sha256 for file in declaration(name).files_of(config))


def lay_out_samples(name: str, config: str, folder: Path, shared: Path) -> Path:
    """Write the samples of a configuration into a folder that serves as data_dir, and return it."""
    samples = Path(__file__).parents[1] / "test_sets" / name / "samples"
    for file in declaration(name).files_of(config):
        path = folder / file.repository / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        if name in ("distil_lingeval", "ctxpro"):
            text = _DISTIL[path.name] if name == "distil_lingeval" else _ctxpro(path)
        elif name == "gender_alternatives":  # the files of another language have the same format
            spanish = f"{file.path.rpartition('.en-')[0]}.en-es.tsv"
            text = (shared / "upstream" / file.repository / spanish).read_text(encoding="utf-8")
        elif name == "mittens":
            # One file has all pairs.
            head, end, rows = mittens_rows(config).partition('A canary."\n')
            known = path.read_text(encoding="utf-8") if path.is_file() else head + end
            text = known if rows in known else known + rows
        elif name in ("wino_x", "mucow"):
            text = {"wino_x": _wino_x, "mucow": _mucow}[name](config, shared)
        else:
            text = (samples / file.repository / file.path).read_text(encoding="utf-8")
        path.write_text(text, encoding="utf-8")
    if name == "wino_x":
        declare_wino_x(folder)
    if name in _ONE_EXAMPLE:
        _declare(folder, dict.fromkeys(folder.glob(_ONE_EXAMPLE[name]), 1))
    if (samples / SAMPLE_SIZES).is_file():
        sizes = json.loads((samples / SAMPLE_SIZES).read_text(encoding="utf-8"))
        _declare(folder, {folder / path: n for path, n in sizes.items()})
    return folder


def data_of(name: str, config: str, folder: Path, shared: Path) -> Path:
    """Return a data_dir with the files of a configuration, or with samples of absent ones."""
    if is_sampled(name, config):
        return lay_out_samples(name, config, folder, shared)
    return shared / "upstream"


def declare_wino_x(folder: Path) -> None:
    """Declare the files of Wino-X in a data_dir as samples with the rows that they have."""
    rows = {
        path: path.read_text("utf-8").rstrip("\n").count("\n") + 1
        for path in folder.glob("demelin/wino_x/data/*/*.jsonl")
    }
    _declare(folder, rows)


def _declare(folder: Path, rows: dict[Path, int]) -> None:
    """Add the sizes of files to those that the folder declares already."""
    path = folder / SAMPLE_SIZES
    sizes = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    sizes |= {file.relative_to(folder).as_posix(): n for file, n in rows.items()}
    path.write_text(json.dumps(sizes), encoding="utf-8")


def _wino_x(config: str, shared: Path) -> str:
    """Return the rows that the thesis prints, and those recovered from ACES, which have no English
    fillers.
    """
    part, _, pair = config.partition(".")[0].partition("_")
    kinds = ("thesis",) if config.endswith(".english") else ("thesis", "aces")
    paths = [shared / f"gold/wino_x/{part}_wino_x_{pair}.{kind}.jsonl" for kind in kinds]
    return "".join(p.read_text(encoding="utf-8").rstrip("\n") + "\n" for p in paths if p.exists())


def _mucow(config: str, shared: Path) -> str:
    """Return the scoring suite of another pair, which has the same format."""
    return (
        shared
        / "upstream/Helsinki-NLP/MuCoW/WMT2019/scoring test suite/json"
        / "lv-en.mucow.scoring.json"
    ).read_text(encoding="utf-8")


def german_referents(first: str, second: str) -> dict[str, str]:
    """Return what a row of Wino-X says of the nouns of its two pronouns."""
    return {
        f"{truth}_translation_referent_of_pronoun{i}_de": noun
        for truth in ("true", "false")
        for i, noun in ((1, first), (2, second))
    }


MT = {
    "qID": "Q-1",
    "sentence": "Dana could not hang the artwork on her wall because it was too thin.",
    "translation1": "Dana konnte das Kunstwerk nicht an ihre Wand hängen, weil sie zu dünn war.",
    "translation2": "Dana konnte das Kunstwerk nicht an ihre Wand hängen, weil es zu dünn war.",
    **{"answer": 1, "pronoun1": "sie", "pronoun2": "es"},
    **{"referent1_en": "wall", "referent2_en": "artwork"},
    **german_referents("Wand", "Kunstwerk"),
}
