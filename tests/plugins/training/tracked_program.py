"""The program that a test starts: it trains a tiny model for four steps with a callback that probes
it, and logs to a tracker of experiments.

Arguments: MODEL, FOLDER, TRACKER (a value of `report_to`). It writes FOLDER/history.json.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import cc_hf
from cc_hf.plugins.training.callback import ProbingCallback
from tests.helpers.people import write_people
from tests.plugins.training.trainers import made_trainer


def by_length(sources: Sequence[str], translations: Sequence[str]) -> list[float]:
    return [float(1 + len(source) % 7) for source in sources]


def main() -> None:
    """Train, and write what the trainer logged of the callback."""
    model, folder, tracker = sys.argv[1:]
    material = cc_hf.load_material(str(write_people(Path(folder))))
    probing = ProbingCallback(material, evaluator=by_length)
    trainer = made_trainer(
        Path(model),
        Path(folder, "out"),
        [probing],
        report_to=tracker,
        project="people",
        run_name="tiny",
    )
    trainer.train()
    rows = [row for row in trainer.state.log_history if "eval_people_accuracy" in row]
    Path(folder, "history.json").write_text(json.dumps(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
