"""Results in the formats of leaderboards, checked by the parsers of huggingface_hub."""

from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import yaml
from huggingface_hub import EvalResult, HfApi, ModelCard, parse_eval_result_entries
from huggingface_hub.errors import LocalEntryNotFoundError
from huggingface_hub.repocard import metadata_load
from huggingface_hub.repocard_data import eval_results_to_model_index, model_index_to_eval_results

from cc_hf import registry
from cc_hf.data.loading import declaration
from cc_hf.errors import CCError
from cc_hf.hub.eval_results import (
    dataset_repos,
    entries,
    eval_result_files,
    evaluator_notes,
    published_scores,
    today,
)
from cc_hf.hub.model_index import eval_results, with_model_index
from cc_hf.hub.tasks import MAX_TASKS, benchmark_tasks, tasks
from cc_hf.metrics.base import Metric
from cc_hf.metrics.figure_names import figure_name
from cc_hf.results import EvaluationResult, ResultSet
from tests.helpers.evidence import ranks_only, supported
from tests.helpers.fake_hub import TOKEN, FakeHub, run
from tests.helpers.usual import cases, known, refuses, write_result

SIGNATURE = "cc|data:winomt/default@b2f1b31|eval:m@1|n:40|v:0.1.0"
SCORES = {"accuracy": 0.75, "weighted_accuracy": 0.8125, "min_accuracy": 1 / 3}
OTHERS = {"mean_confidence": 0.6, "accuracy_male": 1.0}
_OF = ("winomt", "default", "de", "contrastive_conditioning", SIGNATURE, 40)
RESULT = EvaluationResult(*_OF, {**SCORES, **OTHERS}, {}, (), ())
REPOS = {"winomt": "org/winomt", "mt_geneval": "org/mt_geneval"}
GAPS = [f"{name}_{group}" for name in ("bleu", "chrf") for group in ("male", "female")]
_DATA = {"dataset": "mt_geneval", "config": "counterfactual_de", "metric": "gender_quality_gap"}
_SIGNED = "gap|data:mt_geneval/counterfactual_de/dev@1234567|n:40"
_SCORES = dict.fromkeys([*GAPS, "bleu_gap"], 0.4)
GAP = replace(RESULT, **_DATA, signature=_SIGNED, scores=_SCORES)  # type: ignore[arg-type]
COMMIT = "0123456789" * 4
FILE = ".eval_results/winomt--default--de--contrastive_conditioning.yaml"
FILES = [".eval_results/mt_geneval--counterfactual_de--dev--gender_quality_gap.yaml", FILE]
OPTIONS: dict[str, Any] = {"date": "2026-01-31", "source_url": "https://example.org/log"}
OPTIONS["source_name"] = "Log"


@pytest.mark.parametrize("name", registry.DATASETS)
def test_every_task_has_a_unique_id_used_by_results_and_datasets(name: str) -> None:
    from cc_hf.plugins.dataset_folders.benchmark import FRAMEWORK, eval_yaml

    declared = declaration(name)
    actual = tasks(declared)
    assert len({task.id for task in actual}) == len(actual)
    shown = benchmark_tasks(declared)
    assert any(config.has_choices for config in declared.configs) <= len(shown) <= MAX_TASKS
    assert set(shown) <= set(actual)
    content = yaml.safe_load(eval_yaml(declared, shown))
    assert list(content) == ["name", "description", "evaluation_framework", "tasks"]
    assert content["evaluation_framework"] == FRAMEWORK
    made = [(task["id"], task["config"], task["split"]) for task in content["tasks"]]
    assert made == [(task.id, f"{task.config}.choices", task.split) for task in shown]
    for task in actual[:: max(1, len(actual) // 20)]:
        data = "/".join([name, task.config, task.split]).removesuffix("/test")
        named = (name, task.config, task.tgt_lang, task.metric, f"x|data:{data}@abc", 1)
        result = EvaluationResult(*named, {task.score: 0.5}, {}, (), ())
        (published,) = published_scores([result], {name: "org/x"})
        assert [entry.task_id for entry in entries(published, date="2026-01-31")] == [task.id]


@cases(
    ("winomt", None, []),
    ("gate", None, []),  # whose choices are open
    ("wino_x", None, ["mt_en_de.translations"]),
    ("wino_x", ["mt_en_de", "lm_en_fr"], ["lm_en_fr"]),
    ("mt_geneval", None, ["counterfactual_de.translations"]),
)
def test_a_benchmark_is_choices_of_the_default_data(name: str, configs: Any, expected: Any) -> None:
    shown = benchmark_tasks(declaration(name), configs)
    ids = [f"{config}--prompted_choice--accuracy" for config in expected]
    assert [(task.id, task.split) for task in shown] == [(task_id, "test") for task_id in ids]


@pytest.mark.parametrize("name", registry.METRICS)
def test_only_scores_where_higher_is_better_are_tasks(name: str) -> None:
    declared: type[Metric] = registry.resolve("metric", name)
    assert declared.leaderboard or not declared.judges  # shares are neither high nor low
    for score in declared.leaderboard:
        assert figure_name(declared.figure_names, score).best == "high"


def test_what_is_not_fit_to_cite_is_published_with_the_reason_and_notes_once() -> None:
    signed = SIGNATURE.replace("|eval:m@1|", "|sys:org/model@1a2b3c4/beam5|eval:org/model@9a8b7c6|")
    published = published_scores([replace(RESULT, signature=signed)], REPOS)
    note = "not fit to cite: judged by itself: org/model is the system and the evaluator"
    assert all(note in str(entry.notes) for entry in entries(published[0], **OPTIONS))
    assert all(note in str(entry.metric_args) for entry in eval_results(published))
    for result, level in ((ranks_only(RESULT), "ranks only"), (RESULT, "screen")):
        (entry, *_) = entries(published_scores([result], REPOS)[0], **OPTIONS)
        assert str(entry.notes).endswith(f"; level: {level}")
        assert "; not fit to cite: " in str(entry.notes)
    with_note = replace(
        RESULT, notes=("x" * 700,), scores={**RESULT.scores, "corrected_accuracy": 0.5}
    )
    made = entries(published_scores([with_note], REPOS)[0], **OPTIONS)
    assert ["x" * 700 in str(entry.notes) for entry in made] == [True] + [False] * (len(made) - 1)
    assert "corrected_accuracy 50.0 %" in str(made[0].notes)


def test_the_yaml_survives_the_parser_of_the_hub() -> None:
    published = published_scores([supported(RESULT), GAP], REPOS)
    files = eval_result_files(published, **OPTIONS)
    assert sorted(files) == FILES
    gaps, actual = (parse_eval_result_entries(yaml.safe_load(files[name])) for name in FILES)
    assert [actual, gaps] == [entries(entry, **OPTIONS) for entry in published]
    assert {entry.task_id.rpartition("--")[2]: entry.value for entry in actual} == SCORES
    told = {(e.dataset_id, e.date, e.source_url, e.source_name, e.notes) for e in actual}
    # a figure that is none of those to cite names them
    level = f"{SIGNATURE}; level: supported, by 800 labels of people (winomt)"
    cited = f"{level}; to cite: minimum accuracy 33.3"
    assert told == {("org/winomt", *OPTIONS.values(), notes) for notes in (level, cited)}
    assert {x for e in actual for x in (e.dataset_revision, e.source_user, e.verify_token)} == {
        None
    }
    task = "counterfactual_de--dev--gender_quality_gap"
    assert {entry.task_id for entry in gaps} == {f"{task}--{score}" for score in GAPS}


def test_results_name_the_commit_of_the_dataset_and_the_owner_of_their_page() -> None:
    repos = {"winomt": f"org/winomt@{COMMIT}"}
    page = {**OPTIONS, "source_url": "https://huggingface.co/spaces/me/board"}
    (text,) = eval_result_files(published_scores([RESULT], repos), **page).values()
    entries = parse_eval_result_entries(yaml.safe_load(text))
    told = {(entry.dataset_id, entry.dataset_revision, entry.source_user) for entry in entries}
    assert told == {("org/winomt", COMMIT, "me")}
    (first, *_) = eval_results(published_scores([RESULT], repos))
    assert (first.dataset_type, first.dataset_revision) == ("org/winomt", COMMIT)


_OTHER_EVALUATOR = SIGNATURE.replace("m@1", "m@2")


@cases(
    ([{"dataset": "", "config": ""}], REPOS, "got one on data of your own; make it with `"),
    ([{"dataset": "bats"}], REPOS, r"got one on data of your own \(bats\)"),
    ([{}, {"signature": _OTHER_EVALUATOR}], REPOS, "got two of winomt default into de"),
    ([{"scores": OTHERS}], REPOS, r"no score for a leaderboard.*got mean_confidence"),
    ([{}], {}, r"dataset_repos: .*winomt=ORGANISATION/NAME"),
    ([{"config": "defalt"}], REPOS, "did you mean 'default'"),
)
def test_results_without_a_task_are_refused(results: Any, repos: Any, message: str) -> None:
    refuses(message, published_scores, [replace(RESULT, **changes) for changes in results], repos)


def test_dataset_repositories_must_be_given_for_every_dataset() -> None:
    repos = {"winomt": "o/w", "mt_geneval": "o/g"}
    assert dataset_repos(["winomt=o/w", "mt_geneval=o/g"], [*repos]) == repos
    for values, message in (
        (["o/w"], "expected NAME=ORGANISATION/REPO for each of mt_geneval, winomt"),
        (["winomt=w"], "dataset_repos: expected ORGANISATION/NAME, got 'w'"),
        (["winomt=o/w", "winomt=o/v"], "expected winomt once"),
        (["mucow=o/m"], "no result is on mucow"),
        (["winmt=o/w"], "did you mean 'winomt'"),
        (["winomt=o/w@main"], "expected the 40 digits of a commit behind the @, got 'main'"),
    ):
        refuses(message, dataset_repos, values, ["winomt", "mt_geneval"])


def test_the_model_index_survives_parsing_and_keeps_the_card() -> None:
    actual = eval_results(
        published_scores([RESULT, GAP], REPOS), source_url=OPTIONS["source_url"], source_name="Log"
    )
    assert model_index_to_eval_results(eval_results_to_model_index("m", actual)) == ("m", actual)
    of_bleu = EvalResult("translation", "org/wmt", "WMT", "bleu", 31.5, dataset_config="de")
    old = replace(of_bleu, metric_name="BLEU", source_url="https://example.org/old")
    card = (
        '---\r\nlicense: mit\r\nlanguage:\r\n- de\r\ntags: ["zażółć"]\r\nmodel-index:\r\n'
        + yaml.safe_dump(eval_results_to_model_index("mine", [old])).replace("\n", "\r\n")
        + "---\r\n# Model\r\n\r\ntext --- text\r\n"
    )
    text = with_model_index(card, "org/model", actual)
    assert text.endswith("---\r\n# Model\r\n\r\ntext --- text\r\n")
    loaded = ModelCard(text)
    kept = [loaded.data[key] for key in ("license", "language", "tags", "model_name")]
    assert kept == ["mit", ["de"], ["zażółć"], "mine"]
    assert loaded.data["eval_results"] == [old, *actual]
    assert ModelCard(str(loaded)).data["eval_results"] == [old, *actual]
    assert with_model_index(text, "org/model", actual) == text
    better = [replace(result, metric_value=0.9) for result in actual]
    shown = ModelCard(with_model_index(text, "org/model", better)).data["eval_results"]
    assert shown == [old, *better]


def test_a_missing_card_is_created_and_a_broken_one_refused(tmp_path: Path) -> None:
    actual = eval_results(published_scores([RESULT], REPOS))
    text = with_model_index(None, "org/model", actual)
    assert ModelCard(text).data["eval_results"] == actual
    assert text.endswith("---\n# model\n")
    for broken in (
        "---\nlicense: [mit\n---\n",
        "---\n- a\n---\n",
        "---\nmodel-index: 3\n---\n",
        f"---\na: {'[' * 3000}{']' * 3000}\n---\n",
        "---\na: &a [1]\nb: *a\n---\n",
    ):
        refuses(
            r"leave the card .*model_index=False", with_model_index, broken, "org/model", actual
        )


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    (tmp_path / "b.json").write_text(ResultSet((GAP,)).to_json(), encoding="utf-8")
    return [write_result(tmp_path, "a", RESULT), tmp_path / "b.json"]


COMMAND = "--repo org/model --dataset-repo org/winomt"
BOTH = f"{COMMAND.replace('org/w', 'winomt=org/w')} --dataset-repo mt_geneval=org/mt_geneval"


def test_a_dry_run_sends_no_requests(hub: FakeHub, files: list[Path]) -> None:
    output, error = run(f"results {files[0]} {files[1]} {BOTH}")
    assert error is None
    assert "dry run: 3 files" in output
    assert (
        "would be sent to "
        "the model https://huggingface.co/org/model as a pull request; send them with --yes"
    ) in output
    assert hub.paths == []


def test_figures_for_first_looks_say_so_wherever_they_appear(hub: FakeHub, tmp_path: Path) -> None:
    signature = SIGNATURE.replace("eval:m@1", "eval:cc-tiny-en-de@d644c6d303e7")
    path = write_result(tmp_path, "r", replace(RESULT, signature=signature))
    output, error = run(f"results {path} {COMMAND}")
    assert error is None
    assert "note: The evaluator is cc-tiny-en-de" in output
    assert "dry run" in output
    run(f"results {path} {COMMAND} --output {tmp_path}/folder")
    (scores,) = (tmp_path / "folder/.eval_results").iterdir()
    for file in (scores, tmp_path / "folder/README.md"):
        assert "follows from evidence" in file.read_text(encoding="utf-8"), file
    assert evaluator_notes([RESULT]) == []


def test_results_are_proposed_with_cards(hub: FakeHub, files: list[Path], tmp_path: Path) -> None:
    hub.repos["models/org/model"] = {"README.md": b"---\nlicense: mit\n---\n# M\n"}
    output, error = run(f"results {files[0]} {files[1]} {BOTH} --yes")
    assert error is None
    assert f"as a pull request; {hub.url}/org/model/discussions/1" in output
    (commit,) = hub.commits
    assert (commit.repo, commit.is_pr) == ("models/org/model", True)
    assert commit.header["parentCommit"] == hub.sha(commit.repo)
    assert SIGNATURE in commit.header["description"]
    assert sorted(commit.files) == [*FILES, "README.md"]
    (tmp_path / "README.md").write_bytes(commit.files["README.md"])
    metadata = known(metadata_load(tmp_path / "README.md"))
    assert (metadata["license"], len(metadata["model-index"][0]["results"])) == ("mit", 2)
    assert hub.made == []
    assert TOKEN not in output + b"".join(commit.files.values()).decode()


def test_the_commit_of_the_dataset_is_that_on_the_hub(hub: FakeHub, files: list[Path]) -> None:
    def sent(repo: str) -> tuple[str, set[str | None]]:
        hub.repos["models/org/model"] = {}
        output, error = run(
            f"results {files[0]} --repo org/model --dataset-repo {repo}"
            f" --yes --upload-option pull_request=no"
        )
        assert error is None
        repository = hub.repos["models/org/model"]
        assert set(repository) == {"README.md", FILE}
        entries = parse_eval_result_entries(yaml.safe_load(repository[FILE]))
        assert entries[0].date == today()
        return output, {entry.dataset_revision for entry in entries}

    output, revisions = sent("org/winomt")
    assert revisions == {None}
    assert "which the Hub did not tell" in " ".join(output.split())
    hub.repos["datasets/org/winomt"] = {"README.md": b"# W\n"}
    output, revisions = sent("org/winomt")
    assert revisions == {hub.sha("datasets/org/winomt")}
    assert "did not tell" not in output
    hub.paths.clear()
    assert sent(f"org/winomt@{COMMIT}")[1] == {COMMIT}
    assert not any("datasets/org/winomt" in path for path in hub.paths)


def test_an_unread_card_is_kept(hub: FakeHub, files: list[Path], monkeypatch: Any) -> None:
    def refused() -> str:
        _, error = run(f"results {files[0]} {COMMAND} --yes")
        assert "Nothing was sent" in str(error)
        assert hub.commits == []
        return str(error)

    assert "https://huggingface.co/org/model: the Hub did not accept the files" in refused()
    hub.repos["models/org/model"] = {"README.md": b"# card that matters\n"}
    hub.refusals["/resolve/"] = 403
    assert TOKEN not in refused()
    unreached = Mock(side_effect=LocalEntryNotFoundError("no connection"))
    monkeypatch.setattr(HfApi, "hf_hub_download", unreached)
    refused()


_NO_DATES = ("31.1.2026", "20260131", "2026-W05-6", "2026-02-30", "2026-01-31T10Z")


@cases(
    *((f"--entry-option date={day}", "date: expected YYYY-MM-DD") for day in _NO_DATES),
    ("--entry-option source_name=Log", "expected an address with it"),
    ("--card no.md", "card: expected a file"),
    ("--output out --yes", "got both"),
    ("x.json", "x.json"),
    ("no.json", "no.json"),
)
def test_bad_options_and_files_fail(more: str, message: str, files: Any, monkeypatch: Any) -> None:
    monkeypatch.chdir(files[0].parent)
    Path("x.json").write_text("{}", encoding="utf-8")
    _, error = run(f"results {files[0]} {COMMAND} {more}")
    assert isinstance(error, CCError)
    assert message in str(error)


def test_results_can_be_written_without_sending(files: list[Path], tmp_path: Path) -> None:
    (tmp_path / "card.md").write_text("---\nlicense: mit\n---\n# M\n", encoding="utf-8")
    _, error = run(
        f"results {files[0]} {COMMAND} --card {tmp_path}/card.md --output {tmp_path}/out"
    )
    assert error is None
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"README.md", ".eval_results"}
    card = (tmp_path / "out/README.md").read_text(encoding="utf-8")
    assert card.startswith("---\nlicense: mit\nmodel-index:\n")
