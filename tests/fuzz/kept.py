"""Files of ours that users keep and pass to a later command, and how they are forged."""

import csv
import io
import json
import random
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from cc_hf.comparing.people.annotations import read_annotations
from cc_hf.data.files.quality_scores import read_quality_scores
from cc_hf.data.files.result_files import read_result_file
from cc_hf.data.files.sense_counts import read_sense_counts
from cc_hf.errors import CCError
from cc_hf.evaluation.calibration_file import shipped_calibrations
from cc_hf.evaluation.material import load_material
from cc_hf.plugins.asking.prompting.samples import read_translation_samples, shipped_file
from cc_hf.plugins.asking.runs import choices_of_run, kept_replies
from cc_hf.plugins.calibration.candidates import given_candidates
from cc_hf.plugins.calibration.development import load_development, read_wordings
from cc_hf.plugins.conversion.check import read_check
from cc_hf.plugins.raters import sheets
from cc_hf.plugins.raters.pearmut_campaign import campaign_text
from cc_hf.plugins.raters.sampling import FORMS, GENDERS
from cc_hf.plugins.seeds.system_table import read_system_table
from cc_hf.plugins.seeds.timings import read_timings
from tests.fuzz.commands import BASES
from tests.helpers.contract_cases import KeptFile, study_cases
from tests.helpers.forged import VALUES


def _json_lines(*rows: Any) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


_ORIGIN = {name: next(iter(values), "x") for name, values in GENDERS.origin.items()}
_KEY = sheets.SheetKey(
    GENDERS,
    {"seed": "0"},
    tuple(sheets.SheetRow(f"r{n}", ("a",) * len(GENDERS.columns), (_ORIGIN,)) for n in range(2)),
)


def _rewritten(value: Any, path: Path) -> None:
    value.to_json()


_FILES = sheets.rater_files(_KEY, n_raters=2, seed=0)
_SHEET = _FILES["rater1.csv"].replace("a,a,a,", "a,a,a,Male")
_CAMPAIGN = json.loads(campaign_text(_KEY, "c"))
_ANSWERS = [
    {"annotation": [None] * (len(items) - 1) + ["Male"], "item": items, "user_id": user}
    for user, task in zip("ab", _CAMPAIGN["data"], strict=True)
    for items in task
]
_SAMPLES = shipped_file("senses", "en", "fr").read_text(encoding="utf-8")
_TIMED = {"system": "a", "seconds": 2.5, "tokens_per_second": 9.5, "beams": 5}
_TIMES = {"timings": [_TIMED], "machine": {"threads": 4}, "options": {}}
_PAIR: dict[str, Any] = {"source": "a", "target": "b", "source_ids": [5, 2], "target_ids": [6, 2]}
_PAIR["scores"] = {"m": {"positional_log_probs": [-0.1, -0.2]}}
_WORDINGS = '[{"name": "x", "cues": {"female": "F", "male": "M"}}]'
_SENSES = '{"counts": {"bat - fledermaus": 3, "air - luft": 1}}'


def _with_cues(path: Path) -> object:
    return load_material("simplegen", "en-de", tgt_lang="de", cues=path, limit=1)


def _judged(kept: Any, path: Path) -> None:
    choices_of_run(*kept, parser="conclusion").to_json()


def _quality(path: Path) -> Any:
    return read_quality_scores([path])


FILES = (
    KeptFile("result.json", BASES["result.json"], read_result_file, _rewritten),
    KeptFile("results.json", BASES["results.json"], read_result_file, _rewritten),
    KeptFile(
        "result.json",
        BASES["result.json"],
        lambda p: load_development([str(p)]),
        refusal="expected a result that says which gender",
    ),
    KeptFile("calibration.json", shipped_calibrations()[0].to_json(), _with_cues),
    KeptFile("wordings.json", _WORDINGS, read_wordings),
    KeptFile("candidates.json", '{"bat": {"a": ["fruit"], "b": ["ball"]}}', given_candidates),
    KeptFile("annotations.jsonl", BASES["annotations.jsonl"], read_annotations),
    KeptFile("run.replies.jsonl", BASES["run.replies.jsonl"], kept_replies, _judged),
    KeptFile("bleu.tsv", "system\tbleu\na\t38.2\nb\t20\n", _quality, _rewritten),
    KeptFile("bleu.json", '{"a": 38.2, "b": 20}', _quality, _rewritten),
    KeptFile("times.json", _json_lines(_TIMES), lambda p: read_timings([p])),
    KeptFile("senses.json", _SENSES, read_sense_counts),
    KeptFile(
        "key.json",
        sheets.key_text(_KEY),
        lambda p: sheets.SheetKey.read(p, FORMS),
        lambda key, _: sheets.key_text(key),
    ),
    KeptFile("rater1.csv", _SHEET, lambda p: sheets.read_sheet(p, _KEY)),
    KeptFile("answers.json", json.dumps({"c": _ANSWERS}), lambda p: _KEY.read_sheets([p])),
    KeptFile("systems.tsv", "model\tbleu\na\t1\nb\t2\n", read_system_table),
    KeptFile("scores.json", _json_lines({"pairs": [_PAIR]}), read_check),
    KeptFile("demonstrations.tsv", _SAMPLES, read_translation_samples),
    *(file for cases in study_cases().values() for file in cases.kept_files),
)


def _json_paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    inner: Iterable[Any] = ()
    if isinstance(value, dict):
        inner = value.items()
    elif isinstance(value, list):
        inner = enumerate(value)
    for key, item in inner:
        yield from _json_paths(item, (*path, key))


def forged_value(value: Any, rng: random.Random) -> Any:
    """Change one place of a JSON value."""
    path = rng.choice(list(_json_paths(value)))
    new = rng.choice(VALUES)
    if not path:
        return new
    *parents, key = path
    holder = value
    for step in parents:
        holder = holder[step]
    match rng.choice(["set", "set", "set", "delete", "add", "twice"]):
        case "delete":
            del holder[key]
        case "add" if isinstance(holder, dict):
            holder[rng.choice(["x", "", "id", "\ud800", " "])] = new
        case "twice" if isinstance(holder, list):
            holder.insert(key, holder[key])
        case _:
            holder[key] = new
    return value


def _forged_table(text: str, delimiter: str, rng: random.Random) -> str:
    rows = list(csv.reader(io.StringIO(text), delimiter=delimiter))
    row = rng.choice(rows)
    column = rng.randrange(len(row))
    match rng.choice(["cell", "cell", "cell", "drop", "column", "row", "add"]):
        case "drop":
            del row[column]
        case "column":
            for other in rows:
                del other[column : column + 1]
        case "row":
            rows.insert(rng.randrange(len(rows)), row)
        case "add":
            row.append("x")
        case _:
            value = rng.choice(VALUES)
            row[column] = value if isinstance(value, str) else repr(value)
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter).writerows(rows)
    return out.getvalue()


def mutated(file: KeptFile, rng: random.Random) -> bytes:
    text, suffix = file.text, Path(file.name).suffix
    for _ in range(rng.choice([1, 1, 2])):
        if suffix in (".tsv", ".csv"):
            text = _forged_table(text, "\t" if suffix == ".tsv" else ",", rng)
        elif suffix == ".jsonl":
            rows = [json.loads(line) for line in text.splitlines()]
            number = rng.randrange(len(rows))
            rows[number] = forged_value(rows[number], rng)
            text = "".join(json.dumps(row) + "\n" for row in rows)
        else:
            text = json.dumps(forged_value(json.loads(text), rng))
    data = text.encode("utf-8", "surrogatepass")
    match rng.randrange(12):
        case 0:
            data = data[: rng.randrange(len(data) + 1)]
        case 1:
            data = data.replace(b"\n", b"\r\n")
        case 2:
            data = b"\xef\xbb\xbf" + data
        case 3:
            position = rng.randrange(len(data) + 1)
            inserted = rng.choice([b"\xff", b"\x00", b'"', b"9" * 5000])
            data = data[:position] + inserted + data[position:]
        case 4:
            data = data.replace(b": ", b": " + b"[" * 9000, 1)
        case 5:
            others = [b"", b"\n", b" ", b"{}", b"[]", b"null", b"[" * 9000, b'{"a":1,"a":1}']
            data = rng.choice(others)
        case 6:
            data = text.encode("utf-16", "surrogatepass")
        case _:
            pass
    return data


def outcome_of(file: KeptFile, data: bytes, folder: Path) -> str:
    for name, text in file.others.items():
        (folder / name).write_text(text, encoding="utf-8")
    path = folder / file.name
    path.write_bytes(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            value = file.read(path)
        except CCError as error:
            str(error).encode("utf-8")
            if not any(name in str(error) for name in (file.name, *file.others)):
                raise AssertionError("the error names no file") from error
            return str(error)
        try:
            file.use(value, path)
        except CCError as error:
            str(error).encode("utf-8")
            return str(error)
    return ""
