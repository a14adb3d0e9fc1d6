"""What a Hub receives, and the errors when it refuses; the folder of the embedded evaluator; the
Space of each metric: its files, its page and its tests.
"""

import json
import runpy
import subprocess
import sys
import urllib.request
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from huggingface_hub import HfApi, ModelCard, SpaceCard
from huggingface_hub.errors import LocalTokenNotFoundError

from cc_hf import __version__, registry
from cc_hf.errors import DataError, UnknownNameError
from cc_hf.evaluation.calibration_file import CALIBRATION, read_calibration
from cc_hf.evaluators.loading import load_evaluator
from cc_hf.hub.metric_page import MAX_FORM_CHARACTERS, MAX_FORM_LINES, judge_lines
from cc_hf.hub.models import build_model_folder
from cc_hf.hub.page_theme import page_theme
from cc_hf.hub.push import RepoType, plan, push
from cc_hf.hub.spaces import SPACE_LOOKS, build_metric_space, card_example
from cc_hf.models.location import TINY_EN_DE
from tests.helpers.fake_hub import TOKEN, FakeHub, Refusal, run
from tests.helpers.samples import lay_out_samples
from tests.helpers.served_pages import space_served
from tests.helpers.usual import (
    cases,
    fails,
    refuses,
    small_result,
    write_lines,
    write_result,
    write_text,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_lines(tmp_path / "x/.eval_results/a.yaml", ["- 1"])
    return write_text(tmp_path / "x/README.md", "card").parent


@pytest.mark.parametrize("repo_type", ["dataset", "space", "model"])
def test_files_arrive_in_their_repository(hub: FakeHub, folder: Path, repo_type: RepoType) -> None:
    upload, repo = plan(folder, "org/name", repo_type=repo_type), f"{repo_type}s/org/name"
    address = push(upload, message="m", description="d", private=False)
    assert hub.repos == {repo: {"README.md": b"card", ".eval_results/a.yaml": b"- 1\n"}}
    (commit,) = hub.commits
    expected = repo, {"summary": "m", "description": "d"}, False
    assert (commit.repo, commit.header, commit.is_pr) == expected
    made = [hub.made[0].get(key) for key in ("name", "organization", "sdk", "visibility")]
    assert made == ["name", "org", "gradio" if repo_type == "space" else None, "public"]
    assert address == f"{hub.url}/{repo.removeprefix('models/')}/commit/{hub.sha(repo)}"
    assert hub.tokens == {TOKEN}
    push(upload, message="m")
    assert len(hub.commits) == 1  # the second push changes nothing


def test_a_pull_request_does_not_change_the_repository(hub: FakeHub, folder: Path) -> None:
    before = {"models/org/name": {"README.md": b"old"}}
    hub.repos |= before
    parent = hub.sha("models/org/name")
    upload = plan(folder, "org/name", repo_type="model")
    address = push(upload, message="m", create_pr=True, parent_commit=parent)
    assert address == f"{hub.url}/org/name/discussions/1"
    assert (hub.repos, hub.made) == (before, [])
    (commit,) = hub.commits
    assert (commit.is_pr, commit.header["parentCommit"]) == (True, parent)


def test_a_folder_without_files_and_bad_names_are_refused(folder: Path) -> None:
    refuses("expected a folder with files", plan, folder / "no", "org/name", repo_type="dataset")
    for name in ("name", "org/na me", "a/b/c", ""):
        refuses("expected ORGANISATION/NAME", plan, folder, name, repo_type="dataset")


_NOTHING, _REPOSITORY = "Nothing was sent", "The repository exists, without the 2 files"
_AGAIN, _LOG_IN = "Run the command again", "Log in with `hf auth login`"
_COMMITS = "see https://huggingface.co/datasets/org/name/commits/main; otherwise run the command"


@cases(
    ("/repos/create", 500, _NOTHING, _AGAIN),
    ("/repos/create", 403, _NOTHING, _LOG_IN),
    ("/repos/create", "drop", _NOTHING, _AGAIN),
    ("/commit/", 500, _REPOSITORY, _AGAIN),
    ("/commit/", 401, _REPOSITORY, _LOG_IN),
    ("/commit/", "drop", _REPOSITORY, f"{_COMMITS} again"),
    ("/validate-yaml", 500, _REPOSITORY, _AGAIN),
)
def test_a_failed_push_can_be_repeated(
    path: str, refusal: Refusal, sent: str, remedy: str, hub: FakeHub, folder: Path
) -> None:
    hub.refusals[path] = refusal
    upload = plan(folder, "org/name", repo_type="dataset")
    with pytest.raises(DataError) as caught:
        push(upload, message="m")
    for words in (f"{upload.url}: the Hub did not accept the files", sent, remedy):
        assert words in str(caught.value)
    assert TOKEN not in str(caught.value)
    assert hub.commits == []
    hub.refusals.clear()
    push(upload, message="m")
    assert set(hub.repos["datasets/org/name"]) == {"README.md", ".eval_results/a.yaml"}


def test_tokens_are_removed_from_errors(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = "plain-secret-without-prefix"
    error = OSError(f"bad header Authorization: Bearer {other} or {TOKEN}")
    monkeypatch.setattr(HfApi, "create_repo", Mock(side_effect=error))
    with pytest.raises(DataError) as caught:
        push(plan(folder, "org/name", repo_type="dataset"), message="m", api=HfApi(token=other))
    assert other not in str(caught.value)
    assert TOKEN not in str(caught.value)
    assert "Bearer hf_[hidden]" in str(caught.value)
    monkeypatch.setattr(HfApi, "create_repo", Mock(side_effect=LocalTokenNotFoundError("no token")))
    send = partial(push, plan(folder, "org/name", repo_type="dataset"), message="m")
    fails(DataError, _LOG_IN, send)


_ROWS = "{}/test-00000-of-00001.parquet"
_DATASET = f"README.md croissant.json loading/simplegen.py {_ROWS} {_ROWS}".format("en-de", "en-es")
_SPACE = "README.md app.py requirements.txt"


@cases(
    ("dataset simplegen en-de en-es", "dataset", _DATASET),
    ("metric gender_accuracy --upload-option public=yes", "space", f"{_SPACE} n.py tests.py"),
    ("leaderboard results", "space", f"{_SPACE} results/aws.json results/dates.tsv"),
)
def test_publish_repeats_after_a_failure(
    command: str, kind: str, files: str, hub: FakeHub, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    write_result(tmp_path / "results", "aws", small_result((0.4, 0.9)))
    output, _ = run(f"{command} --repo o/n")
    n = len(files.split())
    assert f"dry run: {n} files" in output
    repo = f"{kind}s/o/n"
    told = f"would be sent to the {kind} https://huggingface.co/{repo}; send them with --yes"
    assert told in output
    assert hub.paths == []
    hub.refusals["/commit/"] = "drop"
    output, error = run(f"{command} --repo o/n --yes")
    assert f"without the {n} files" in str(error)
    assert TOKEN not in output + str(error)
    hub.refusals.clear()
    output, error = run(f"{command} --repo o/n --yes")
    assert error is None
    assert f"sent: {n} files" in output
    assert set(hub.repos[repo]) == set(files.split())
    made = [hub.made[-1].get(key) for key in ("type", "sdk", "visibility")]
    sdk, visibility = "gradio" * (kind == "space"), "public" if "public" in command else "private"
    assert made == [kind, sdk or None, visibility]
    assert TOKEN.encode() not in output.encode() + b"".join(hub.repos[repo].values())


def test_publish_dataset_can_write_the_folder_without_sending(hub: FakeHub, tmp_path: Path) -> None:
    task = "de-fr--prompted_choice--accuracy"
    data = lay_out_samples("contrawsd", "de-fr", tmp_path / "data", tmp_path)
    names = ("dataset", "contrawsd", "de-fr", "--repo", "org/ws")
    command = (*names, "--task", task, "--data-dir", str(data))
    _, error = run(*command, "--output", tmp_path / "a", "--yes")
    assert "output, yes: expected one of the two" in str(error)
    output, error = run(*command, "--output", tmp_path / "a")
    assert error is None
    assert "eval.yaml" in output
    assert "no eval.yaml" not in output
    assert hub.paths == []
    assert task in (tmp_path / "a/eval.yaml").read_text(encoding="utf-8")
    assert 'load_dataset("org/ws", "de-fr")' in (tmp_path / "a/README.md").read_text("utf-8")


@cases(
    ("simplegen", "These configurations have none\n"),
    ("mt_geneval counterfactual_de", "others have some, such as counterfactual_de.translations\n"),
)
def test_data_without_choices_say_so(line: str, told: str, shared: Path, tmp_path: Path) -> None:
    output, error = run(
        f"dataset {line} --repo o/n --data-dir {shared / 'upstream'} --output {tmp_path / 'a'}"
    )
    assert error is None
    assert not (tmp_path / "a/eval.yaml").exists()
    assert "note: no eval.yaml: the Hub takes benchmarks that inspect-ai can run" in output
    assert told in output


SOURCES = ["The [female] doctor said she is late.", "The [male] doctor said she is late."]
TRANSLATIONS = ["Die Ärztin sagte, sie sei spät dran."] * 2


@pytest.fixture(scope="module")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("published") / "model"
    build_model_folder("cc-tiny-en-de", "org/tiny", output=output)
    return output


def test_transformers_loads_the_folder_by_its_auto_classes(model_folder: Path) -> None:
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model_folder)
    model = AutoModelForSeq2SeqLM.from_pretrained(model_folder)
    batch = tokenizer(["The doctor said she is late."], return_tensors="pt")
    output = model.generate(**batch, num_beams=2, max_new_tokens=20)
    assert tokenizer.batch_decode(output, skip_special_tokens=True)[0].startswith("Der Arzt")


def test_the_folder_is_the_embedded_model_as_an_evaluator(model_folder: Path) -> None:
    published = load_evaluator(model_folder, mode="exact")
    embedded = load_evaluator("cc-tiny-en-de", mode="exact")
    assert published.identity == TINY_EN_DE.identity
    languages = {"src_lang": "en", "tgt_lang": "de"}
    scores = published.mean_logprobs(SOURCES, TRANSLATIONS, **languages)
    assert list(scores) == list(embedded.mean_logprobs(SOURCES, TRANSLATIONS, **languages))
    calibration = read_calibration(model_folder / CALIBRATION)
    assert calibration.is_for(published, "en", "de")


def test_the_card_names_the_repository_and_the_licence(model_folder: Path) -> None:
    card = ModelCard.load(model_folder / "README.md")
    assert (card.data.license, card.data.library_name) == ("apache-2.0", "transformers")
    assert 'AutoModelForSeq2SeqLM.from_pretrained("org/tiny")' in card.text
    assert f"({CALIBRATION})" in card.text
    assert card.text.count("## Example\n") == 1


def test_publish_model_writes_or_sends_the_folder(hub: FakeHub, tmp_path: Path) -> None:
    command = ("model", "cc-tiny-en-de", "--repo", "org/tiny")
    output, _ = run(*command)
    assert "dry run: 9 files" in output
    assert "would be sent to the model https://huggingface.co/org/tiny" in output
    output, _ = run(*command, "--output", tmp_path / "model")
    assert str(tmp_path / "model" / CALIBRATION) in output.replace("\n", "")
    assert hub.paths == []
    _, error = run(*command, "--yes")
    assert error is None
    assert {"README.md", "model.safetensors", CALIBRATION} <= set(hub.repos["models/org/tiny"])


def test_unknown_models_and_bad_names_are_refused(tmp_path: Path) -> None:
    build = partial(build_model_folder, output=tmp_path / "a")
    fails(UnknownNameError, "did you mean 'cc-tiny-en-de'", build, "cc-tiny", "org/tiny")
    refuses("ORGANISATION/NAME", build, "cc-tiny-en-de", "tiny")
    assert not (tmp_path / "a").exists()


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
