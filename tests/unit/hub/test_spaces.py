"""The Space of each metric: its files, its page and its tests."""

import json
import runpy
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from huggingface_hub import SpaceCard

from cc_hf import __version__, registry
from cc_hf.hub.metric_page import MAX_FORM_CHARACTERS, MAX_FORM_LINES, judge_lines
from cc_hf.hub.page_theme import page_theme
from cc_hf.hub.spaces import SPACE_LOOKS, build_metric_space, card_example
from tests.helpers.served_pages import space_served
from tests.helpers.usual import refuses

_TEXTS = {"reference": "Sie ist eine Ärztin.", "contrastive_reference": "Er ist ein Arzt."}
REFERENCE = json.dumps([_TEXTS])


@pytest.mark.parametrize("name", registry.METRICS)
def test_every_metric_has_a_complete_space_folder(root: Path, tmp_path: Path, name: str) -> None:
    files = build_metric_space(name, f"org/{name}", output=tmp_path)
    names = sorted(["README.md", "app.py", f"{name}.py", "requirements.txt", "tests.py"])
    assert [path.name for path in files] == names
    module = (tmp_path / f"{name}.py").read_bytes()
    assert module == (root / f"metrics/{name}/{name}.py").read_bytes()
    card = SpaceCard.load(tmp_path / "README.md")
    fields = [card.data[key] for key in ("sdk", "sdk_version", "app_file", "tags")]
    assert fields == ["gradio", SPACE_LOOKS["sdk_version"], "app.py", ["evaluate", "metric"]]
    assert card.data["title"]
    assert card.data["description"].endswith((".", "?"))
    assert "](../" not in card.text
    loading = f'metric = cc_hf.load_metric("{name}")'
    assert f'metric = evaluate.load("org/{name}")' in card.text or loading in card.text
    requirements = (tmp_path / "requirements.txt").read_text(encoding="utf-8")
    assert requirements.removeprefix("cc_hf").removeprefix("[models]") == f">={__version__},<1\n"
    runpy.run_path(str(tmp_path / "tests.py"))["test_the_module_answers_as_the_package"]()


def test_the_gradio_version_is_the_tested_one(root: Path) -> None:
    assert f"gradio=={SPACE_LOOKS['sdk_version']}\n" in (root / "constraints.txt").read_text(
        encoding="utf-8"
    )


def test_the_folder_uses_the_given_name_and_requirement(tmp_path: Path) -> None:
    line = "cc_hf @ git+https://example.org/cc_hf"
    build_metric_space("gender_accuracy", "org/own-name", output=tmp_path / "a", requirement=line)
    assert (tmp_path / "a/own-name.py").is_file()
    assert (tmp_path / "a/requirements.txt").read_text(encoding="utf-8") == f"{line}\n"
    assert 'evaluate.load("org/own-name")' in (tmp_path / "a/README.md").read_text(encoding="utf-8")
    for metric, repo, requirement, message in (
        ("gender_accuracy", "org/a.b", None, 'without "."'),
        ("gender_accuracy", "name", None, "ORGANISATION/NAME"),
        ("gender_accuracy", "org/a", "a\nb", "expected one line"),
        ("gender_acuracy", "org/a", None, "did you mean 'gender_accuracy'"),
    ):
        refuses(
            message,
            build_metric_space,
            metric,
            repo,
            output=tmp_path / "b",
            requirement=requirement,
        )
    assert not (tmp_path / "b").exists()


def test_bad_page_input_is_refused() -> None:
    for translations, references, message in (
        ("x\n" * (MAX_FORM_LINES + 1), REFERENCE, f"at most {MAX_FORM_LINES} lines"),
        ("x" * (MAX_FORM_CHARACTERS + 1), REFERENCE, "at most 50,000 characters"),
        ("x", "[" * 40_000, "expected JSON"),
        ("x", f"[{'1' * 5000}]", "expected JSON"),
        ("x", "{}", "JSON list with one object"),
        ("x", "[1]", "JSON list with one object"),
        ("", "[]", "at least one prediction"),
        ("x\ny", REFERENCE, "2 predictions and 1 references"),
    ):
        refuses(message, judge_lines, "gender_accuracy", translations, references, tgt_lang="de")

    refuses(
        "does not use alignments",
        judge_lines,
        "gender_accuracy",
        "x",
        REFERENCE,
        tgt_lang="de",
        alignments="0-0",
    )


def test_card_examples_must_be_literals() -> None:
    refuses(
        "expected an example of literals, got open",
        card_example,
        "```python\nm.compute(predictions=open('x'))\n```",
    )
    refuses("calls compute, got none", card_example, "no example")


#: runs in a separate process: gradio leaves event loops open
_PAGES = """
import gradio.routes, json, pathlib, runpy, sys
from cc_hf.hub.spaces import card_example
# Routes take most of the time; another test serves.
gradio.routes.App.create_app = lambda *_, **__: None
for folder in sorted(pathlib.Path(sys.argv[1]).iterdir()):
    page = runpy.run_path(str(folder / "app.py"))["demo"]
    judges = {one.api_name: one for one in page.fns.values()}
    judge = judges["judge"].fn
    typed = [field.value for field in judges["judge_sentence"].inputs]
    of_sentence = judges["judge_sentence"].fn(*typed)
    example = card_example((folder / "README.md").read_text(encoding="utf-8"))
    right = judge(
        "\\n".join(example.get("predictions", [])),
        json.dumps(example["references"]),
        example.get("src_lang", "en"),
        example.get("tgt_lang", "de"),
        "\\n".join(example.get("alignments", [])),
    )
    wrong = judge("<script>alert(1)</script>", "[", "en", "de", "")
    # Some judge the model, not translations.
    correct = [reference.get("correct_translation") for reference in example["references"]]
    judged = example.get("predictions", correct)
    print(json.dumps([folder.name, judged, right, wrong, of_sentence]))
"""


def test_every_metric_page_judges_its_example(tmp_path: Path) -> None:
    for name in registry.METRICS:
        build_metric_space(name, f"org/{name}", output=tmp_path / name)
    run = subprocess.run(
        [sys.executable, "-c", _PAGES, str(tmp_path)], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    actual = [json.loads(line) for line in run.stdout.splitlines()]
    assert [name for name, *_ in actual] == sorted(registry.METRICS)
    for name, predictions, right, wrong, of_sentence in actual:
        message, rows, figures, signature = right
        assert message["visible"] is False, (name, message)
        if registry.resolve("metric", name).judges:
            assert [row[1:] for row in of_sentence[1]] == [rows[0][1:]], name
        assert [row[1] for row in rows] == predictions
        assert dict(figures)["n"] == str(len(rows))
        assert "|n:" in signature
        message, *rest = wrong
        assert message["visible"]
        assert "references: expected a JSON list" in message["value"]
        assert rest == [[], [], ""]


def test_the_app_starts_and_answers_requests(tmp_path: Path, socket_enabled: None) -> None:
    with space_served("gender_accuracy", tmp_path) as url:
        data = json.dumps({"data": ["Die Ärztin ist gut.", REFERENCE, "en", "de", ""]}).encode()
        headers, path = {"Content-Type": "application/json"}, f"{url}gradio_api/call/judge"
        request = urllib.request.Request(path, data, headers)
        event = json.loads(urllib.request.urlopen(request).read())["event_id"]
        answer = urllib.request.urlopen(f"{path}/{event}").read().decode()
    actual: list[Any] = json.loads(answer.partition("event: complete\ndata: ")[2].splitlines()[0])
    assert actual[1]["data"] == [["1", "Die Ärztin ist gut.", "correct"]]
    assert ["accuracy", "100.0 %"] in actual[2]["data"]


def test_the_theme_asks_for_no_fonts_of_other_servers() -> None:
    """gradio loads fonts that are its own objects from Google; names of fonts are local."""
    page_theme(gradio := Mock())
    options = gradio.themes.Base.call_args.kwargs
    assert options["primary_hue"] == "teal"
    assert all(isinstance(font, str) for font in (*options["font"], *options["font_mono"]))
    settings = gradio.themes.Base.return_value.set.call_args.kwargs
    assert any("button_primary" in name for name in settings)
