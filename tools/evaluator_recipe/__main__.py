"""python -m tools.evaluator_recipe es --output DIR"""

from __future__ import annotations

import argparse
import logging
from dataclasses import fields
from pathlib import Path

from tools.evaluator_recipe.corpora import fetch_packages
from tools.evaluator_recipe.kept_out import of_test_sets
from tools.evaluator_recipe.languages import open_language
from tools.evaluator_recipe.romance_words import languages
from tools.evaluator_recipe.train import Recipe, train

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lang", choices=("de", *languages()), help="target language")
    parser.add_argument("--output", type=Path, required=True, help="a stopped run goes on here")
    parser.add_argument(
        "--data-dir",
        type=Path,
        required=True,
        help="local copy of the upstream repositories: corpora, and test sets to keep out",
    )
    parser.add_argument("--packages", type=Path, default=Path("out/packages"))
    parser.add_argument(
        "--without", action="append", default=[], help="a kind of corpus to leave out: student"
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--device", default="cpu")
    for field in fields(Recipe):
        parser.add_argument(
            "--" + field.name.replace("_", "-"), type=type(field.default), default=field.default
        )
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    if arguments.lang != "de":
        fetch_packages(arguments.lang, arguments.packages)
    kept_out, counts = of_test_sets(arguments.lang, arguments.data_dir)
    logging.info("kept out: %s", counts)
    train(
        open_language(
            arguments.lang,
            upstream=arguments.data_dir,
            packages=arguments.packages,
            without=arguments.without,
        ),
        arguments.output,
        Recipe(**{field.name: getattr(arguments, field.name) for field in fields(Recipe)}),
        kept_out=kept_out,
        threads=arguments.threads,
        device=arguments.device,
    )
