"""The study of distillation runs at a toy size, and goes on where it stopped."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from cc_hf_studies.distillation.gender_flows import read_occupation_counts

from cc_hf.results import EvaluationResult, Interval
from cc_hf.systems import text_files
from studies.examples.distillation import distillation_study
from tests.helpers.processes import started
from tests.helpers.usual import run_command, typed, write_lines

TOY = (
    "--sentences 160 --development 8 --pieces 250 --teacher-width 16 --teacher-layers 1"
    " --teacher-steps 160 --widths 8 --layers 1 --steps 2 --batch-size 8 --beams 1 --counted 60"
    " --block-lines 50 --examples 4 --max-length-ratio 1000 --learning-rate .03 --cpu --threads 1"
)


pytestmark = pytest.mark.usefixtures("same_threads")


def test_forms_are_of_one_gender_and_one_word() -> None:
    forms = distillation_study.forms_of_occupations()
    assert "Ärztinnen" in forms["doctor"]["tgt_forms_female"]
    assert forms["doctor"]["src_forms"] == ["doctor", "doctors"]
    for row in forms.values():
        male, female = set(row["tgt_forms_male"]), set(row["tgt_forms_female"])
        assert male, female
        assert not male & female
        assert all(" " not in word for word in (*male, *female, *row["src_forms"]))
    assert len(forms) > 100


def test_the_change_of_a_share_is_that_of_its_sums_and_has_an_interval() -> None:
    outcomes = ("male", "female", "other")
    counts = ([50.0, 0.0, 0.0], [10.0, 20.0, 0.0], [20.0, 0.0, 100.0])
    flow = {o: dict(zip(outcomes, of, strict=True)) for o, of in zip(outcomes, counts, strict=True)}
    changes = {outcome: distillation_study.share_change(flow, outcome) for outcome in flow}
    assert changes["male"].difference == pytest.approx(30 / 200)
    assert sum(change.difference for change in changes.values()) == pytest.approx(0)
    interval = typed(Interval, changes["male"].interval)
    assert 0.09 < interval.low < 0.15 < interval.high < 0.21


def test_a_study_writes_its_files_once_and_goes_on_with_a_killed_distillation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [*TOY.split(), "--output", str(tmp_path)]
    translated = text_files._Blocks.translated
    seen: list[int] = []

    def killed(self: Any, number: int) -> list[str]:
        seen.append(number)
        if len(seen) == 3:  # the second block of the training sources, after those for BLEU
            raise KeyboardInterrupt
        return translated(self, number)

    with monkeypatch.context() as patches:
        patches.setattr(text_files._Blocks, "translated", killed)
        with pytest.raises(KeyboardInterrupt):
            distillation_study.main(words)
    part = tmp_path / "translations/teacher.seed1.train.de.part"
    n_done = len(part.read_text(encoding="utf-8").splitlines())
    assert 0 < n_done < len((tmp_path / "data/train.en").read_text().splitlines())
    text = distillation_study.main(words)
    assert (tmp_path / "tables.seed1.md").read_text(encoding="utf-8") == f"{text}\n"
    names = ("teacher", "student-8", "baseline-8")
    for name in names:
        path = tmp_path / f"results/{name}.seed1.json"
        result = EvaluationResult.from_json(path.read_text(encoding="utf-8"))
        assert (result.system, result.n) == (f"{name}.seed1", 4)
        assert f"| {name}.seed1 | " in text
    rows = json.loads((tmp_path / "results/bleu.json").read_text(encoding="utf-8"))
    assert {row["system"] for row in rows} == {f"{name}.seed1" for name in names}
    counts = read_occupation_counts(tmp_path / "occupations.student-8.seed1.json")
    assert counts.stages == ("original", "teacher", "student")

    def fails(*_: Any, **__: Any) -> None:
        raise AssertionError("this was done before")

    for name in ("train", "translate_file", "evaluate", "count_occupations"):
        monkeypatch.setattr(distillation_study, name, fails)
    assert distillation_study.main(words) == text


LINES = [f"The {job} called {n} friends." for n in range(2) for job in ("doctor", "nurse", "cook")]


@pytest.mark.enable_socket
def test_two_killed_processes_and_another_write_one_file(tmp_path: Path) -> None:
    source = write_lines(tmp_path / "in.en", LINES)
    blocks = "--text-option block_lines=1"
    command = f"translate {source} --system cc-tiny-en-de {blocks} --device cpu --quiet -o"
    run_command(command, tmp_path / "one.de")
    part, whole = tmp_path / "two.de.part", tmp_path / "two.de"
    processes = started(2, tmp_path, "cc_hf.cli", *command.split(), whole)
    try:
        while not whole.is_file() and not (part.is_file() and part.stat().st_size):
            assert not any(process.exitcode for process in processes)
            time.sleep(0.02)
    finally:
        for process in processes:
            process.kill()
            process.join()
    if not whole.is_file():  # else they were done before they could be killed
        run_command(command, whole)
    assert whole.read_bytes() == (tmp_path / "one.de").read_bytes()
    summaries = [tmp_path / f"{name}.de.summary.json" for name in ("one", "two")]
    assert summaries[0].read_bytes() == summaries[1].read_bytes()
