"""The printed figures of the thesis agree with each other, and stand beside a result."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from cc_hf_studies import language_models

from cc_hf.comparing.published import read_published
from cc_hf.plugins.asking.plans import plan_choices
from studies.examples.language_models import answer_forms
from tests.helpers.usual import run_command, write_result
from tests.plugins.asking.respondents import right, run_choices, schemas


def test_printed_differences_add_up() -> None:
    tables = read_published(Path(language_models.__path__[0]))

    def of(name: str, row: str) -> dict[str, float]:
        return {column: float(cell) for column, cell in tables[name].rows[row].items()}

    printed = {"de": (-3.39, 5.09, 8.48), "fr": (0.37, 8.12, 7.75), "ru": (0.17, 5.21, 5.04)}
    names = {"Table 4.20": "basic", "Table 4.23": "cot", "Table 4.26": "cota"}
    for lang, expected in printed.items():
        basic, cot, cota = (of(name, row)[f"MT en-{lang}"] for name, row in names.items())
        assert (cot - basic, cota - basic, cota - cot) == pytest.approx(expected, abs=1e-9)

    basic_errors, cot_errors = of("Table 3.21", "basic"), of("Table 3.23", "chain of thought")
    changes = [cot_errors[name] - basic_errors[name] for name in basic_errors]
    assert changes == pytest.approx([0.55, -1.52, 1.26, 0.19], abs=1e-9)

    table = tables["Table 3.20"]
    totals = [sum(table.value(row, name) for name in cells) for row, cells in table.rows.items()]
    assert totals == [3000, 10_000, 3000, 10_000]


def test_a_result_stands_above_the_printed_figures(tmp_path: Path) -> None:
    rows = schemas(4)
    asked = run_choices(plan_choices(rows, n_shots=0), rows, right, tmp_path / "replies.jsonl")
    result = replace(asked, dataset="wino_x", config="mt_en_de.translations")
    write_result(tmp_path, "choices", result)
    printed = run_command("study", "language_models", "published", "choices.json", cwd=tmp_path)
    assert "100.00" in printed.stdout
    assert "55.63" in printed.stdout
    assert "OS18 adversarial" not in printed.stdout


def run(folder: Path, steps: int) -> None:
    sizes = "--batch-size 4 --held-out 5 --layers 1 --width 8 --heads 2"
    answer_forms.main(f"--steps {steps} --eval-steps 2 {sizes} --output {folder}".split())


def test_questions_and_answers_follow_the_world() -> None:
    generator = np.random.default_rng(3)
    world = answer_forms.made_world(generator)
    pairs = answer_forms.noun_pairs(world)
    assert len(set(answer_forms.WORDS)) == len(answer_forms.WORDS)
    assert sorted(world.roles.count(role) for role in (0, 1)) == [10, 10]
    assert all(world.genders[a] != world.genders[b] for a, b in pairs)

    schemas = answer_forms.drawn(pairs, generator, range(200))
    assert {schema.right for schema in schemas} == {1, 2}
    pronouns = {"m": "er", "f": "sie", "n": "es"}
    for schema in schemas:
        words = answer_forms.question(schema, world)
        assert len(words) == len(answer_forms.question(schemas[0], world))
        assert set(words) <= set(answer_forms.WORDS)

        shown = [word for word in words if word in pronouns.values()]
        meant = schema.nouns[world.roles[schema.adjective]]
        pronoun = pronouns[world.genders[meant]]
        assert (shown.index(pronoun) + 1, len(set(shown))) == (schema.right, 2)

        written = {form: answer_forms.answer(schema, world, form) for form in answer_forms.FORMS}
        assert {words[-2] for words in written.values()} == {str(schema.right)}
        assert written["cot"][0::3][:2] == shown
        assert written["cota"][1:5] == [f"noun{meant}", "|", world.genders[meant], pronoun]


def test_models_are_trained_and_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(tmp_path, 3)
    records = json.loads((tmp_path / "curve.json").read_text(encoding="utf-8"))["records"]
    expected = [(form, step) for step in (2, 3) for form in answer_forms.FORMS]
    assert [(record["form"], record["step"]) for record in records] == expected
    for record in records:
        for name in ("answer_new", "steps_new", "answer_seen", "steps_seen"):
            figure = record[name]
            assert 0 <= figure["low"] <= figure["value"] <= figure["high"] <= 1
        assert record["steps_new"]["value"] <= record["answer_new"]["value"]
    table = (tmp_path / "table.md").read_text(encoding="utf-8")
    assert capsys.readouterr().out == table
    assert [line.split(" | ")[0] for line in table.splitlines()[2:]] == ["| 2", "| 3"]
    curve = (tmp_path / "curve.svg").read_text(encoding="utf-8")
    assert all(f">{form}<" in curve for form in answer_forms.FORMS)


def test_the_schemas_do_not_depend_on_the_form(tmp_path: Path) -> None:
    """A basic model with a short and one with a long run see the same first batches."""
    losses = []
    for steps in (2, 4):
        folder = tmp_path / str(steps)
        run(folder, steps)
        records = json.loads((folder / "curve.json").read_text(encoding="utf-8"))["records"]
        losses.append([record["loss"] for record in records[:3]])
    assert losses[0] == pytest.approx(losses[1])
