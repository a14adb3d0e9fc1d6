"""python -m tools.evaluator_recipe --tatoeba deu-eng.zip --output DIR"""

from __future__ import annotations

import argparse
import logging
from dataclasses import fields
from pathlib import Path

from cc_hf.data.loading import load_examples
from cc_hf.files import file_sha256
from tools.evaluator_recipe.corpus import TATOEBA
from tools.evaluator_recipe.train import Recipe, train

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tatoeba", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument(
        "--data-dir",
        type=Path,
        help=(
            "local copy of the upstream repositories, for the test sentences that must not be"
            " trained on"
        ),
    )
    parser.add_argument("--threads", type=int, default=2)
    for field in fields(Recipe):
        parser.add_argument(
            "--" + field.name.replace("_", "-"), type=type(field.default), default=field.default
        )
    arguments = parser.parse_args()
    if (digest := file_sha256(arguments.tatoeba)) != TATOEBA:
        parser.error(f"--tatoeba: expected the archive with sha256 {TATOEBA}, got {digest}")
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    train(
        arguments.tatoeba,
        arguments.output,
        Recipe(**{field.name: getattr(arguments, field.name) for field in fields(Recipe)}),
        excluded=[
            e.source
            for name in ("winomt", "simplegen")
            for e in load_examples(name, data_dir=arguments.data_dir)
        ],
        threads=arguments.threads,
    )
