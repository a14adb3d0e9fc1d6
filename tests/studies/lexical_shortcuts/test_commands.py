import json
from pathlib import Path

import pytest

from cc_hf.results import NoInterval
from cc_hf.statistics.paired import PairedDifference
from cc_hf.statistics.shares import Share
from cc_hf.studies.lexical_shortcuts import results
from cc_hf.studies.lexical_shortcuts.group_chart import probe_groups_chart
from cc_hf.studies.lexical_shortcuts.tables import lexical_probe_chart, lexical_probe_tables
from tests.helpers.cases import cases
from tests.helpers.command_line import printed_by, read_json
from tests.helpers.lines import write_lines
from tests.helpers.models import save_tiny_marian
from tests.helpers.refusals import refuses
from tests.helpers.terminal import printed
from tests.studies.lexical_shortcuts.shortcut_models import pairs


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write training and test text, and two models with one tokenizer."""
    folder = tmp_path_factory.mktemp("probe")
    for part, n in (("train", 12), ("test", 3)):
        texts = pairs(n, n)
        write_lines(folder / f"{part}.en", texts.sources)
        write_lines(folder / f"{part}.de", texts.targets)
    for seed in (0, 1):
        save_tiny_marian(folder / f"model{seed}", seed=seed)
    return folder


COMMAND = "study lexical_shortcuts probe model0 model1 --source train.en --target train.de"


def test_two_models_are_probed_and_drawn(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    printed = printed_by(
        f"{COMMAND} --test-source test.en --test-target test.de --name base --name other"
        " --max-epochs 2 --resamples 20 --bf16 --chart probe.svg --group-chart groups.svg --output probe.json"
    )
    assert "base: encoder, 21 sub-words" not in printed  # words are several sub-words
    assert "base: encoder" in printed
    assert "other against base, percentage points" in printed
    assert "signature: lexical-probe|model:base@" in printed.replace("\n", "")
    row = read_json(folder / "probe.json")
    assert [model["name"] for model in row["models"]] == ["base", "other"]
    assert len(row["differences"]) == 6
    assert ".bf16" in row["signature"]
    assert "|n:11+1+3|" in row["signature"]
    drawn = (folder / "probe.svg").read_text(encoding="utf-8")
    assert "<svg" in drawn
    assert "cosine to the embeddings" in drawn
    drawn = (folder / "groups.svg").read_text(encoding="utf-8")
    assert "tenths of the types, the rarest first" in drawn
    assert "part of speech" not in drawn


_SIDES = ("encoder", "decoder")
_TRANSLATED = "test_dataset: expected a dataset with correct transl"


@cases(
    ("--test-source test.en", "expected --test-source and --test-target together"),
    ("--name a --name a", "name: expected a different name for each of 2 models"),
    ("--chart probe.gif", "chart: expected a file that ends in .svg or .png or .pdf"),
    pytest.param("--test-dataset winomt", _TRANSLATED, marks=pytest.mark.shared),
)
def test_options_that_do_not_fit_are_refused(
    options: str, message: str, folder: Path, monkeypatch: pytest.MonkeyPatch, shared: Path
) -> None:
    monkeypatch.chdir(folder)
    refuses(message, printed_by, f"{COMMAND} --max-epochs 1 {options} --data-dir {shared}/upstream")


def test_tables_show_parts_of_speech_gates_and_what_was_not_compared() -> None:
    none = NoInterval("it is the same in every resample")
    groups = {"NOUN": Share(3, 5, none), "VERB": Share(1, 5, none)}
    shares = [(1 - n / 10, none, 1 - n / 5, none, groups, groups, 3, 0.5) for n in range(9)]
    layers = tuple(
        results.ProbedLayer(side, n, *of) for side in _SIDES for n, of in enumerate(shares)
    )
    sides = tuple(results.ProbedSide(side, 100, 10, 20, 2) for side in _SIDES)
    key = results.GateActivation("encoder", 1, "key", 0.5123, 0.1)
    gates = (key, results.GateActivation("cross", 2, "value", 0.25, 0.2))
    difference = PairedDifference(0.5, 0.4, -0.1, none, 0.02)
    models = {"base": (), "lexical": gates, "other": ()}
    probe = results.LexicalProbe(
        tuple(results.ProbedModel(name, sides, layers, found) for name, found in models.items()),
        (results.LayerDifference("lexical", "encoder", 1, difference, None),),
        "lexical-probe|v:1",
        {"other": "it has other sub-words"},
    )
    text = printed(lexical_probe_tables(probe)).replace("−", "-")
    parts = ["2 of types that the classifiers have", "NOUN", "60.0", "layer 8", "0.512"]
    parts += ["source attention", "-10.0", "not compared: other: it has other sub-words"]
    parts.append("difference in encoder 1: no interval: it is the same")
    assert [part for part in parts if part not in text] == []
    model = json.loads(probe.to_json())["models"][1]
    assert model["gates"][1]["side"] == "cross"
    noun, _ = model["layers"][0]["by_pos"]
    assert list(noun.items())[:3] == [("name", "NOUN"), ("n", 5), ("accuracy", 0.6)]
    assert list(noun)[3:] == ["interval"]
    for file_format, start in (("png", b"\x89PNG"), ("pdf", b"%PDF")):
        assert lexical_probe_chart(probe, file_format=file_format).startswith(start)
        assert probe_groups_chart(probe, file_format=file_format).startswith(start)
    drawn = probe_groups_chart(probe, file_format="svg").decode("utf-8")
    assert drawn.count(">NOUN<") == 12  # three models, two sides, and stand-ins for tenths
    assert ">lexical: decoder<" in drawn
