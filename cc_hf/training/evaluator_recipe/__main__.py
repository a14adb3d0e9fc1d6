"""python -m cc_hf.training.evaluator_recipe --tatoeba deu-eng.zip --output DIR"""

import argparse
import logging
from dataclasses import fields
from pathlib import Path

from cc_hf.training.evaluator_recipe.train import Recipe, train

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tatoeba", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--exclude", type=Path, nargs="*", default=[], help="text files with sentences that must not be trained on, one a line")
    parser.add_argument("--threads", type=int, default=2)
    for field in fields(Recipe):
        parser.add_argument("--" + field.name.replace("_", "-"), type=type(field.default), default=field.default)
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    train(
        arguments.tatoeba,
        arguments.output,
        Recipe(**{field.name: getattr(arguments, field.name) for field in fields(Recipe)}),
        excluded=[line for path in arguments.exclude for line in path.read_text(encoding="utf-8").splitlines()],
        threads=arguments.threads,
    )
