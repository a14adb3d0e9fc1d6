"""Scores of an evaluation by Ray Data, merged, and the result:

    python ray_parts.py FOLDER DATASET LANGUAGES TRANSLATIONS [N_ACTORS]

FOLDER gets the files of scores, `scores.sqlite` and `result.json`. A stopped run continues.
"""

from __future__ import annotations

import sys
from pathlib import Path

import cc_hf
from cc_hf.evaluators.score_cache import ScoreCache
from cc_hf.plugins.scale.merging import merge
from cc_hf.plugins.scale.parts import PartDone
from cc_hf.plugins.scale.ray_data import RayParts


def main(folder: Path, dataset: str, languages: str, translations: Path, n_actors: int = 1) -> None:
    """Evaluate translations by the evaluator that ships for the language pair."""
    material = cc_hf.load_material(dataset, languages)
    cache = folder / "scores.sqlite"
    try:
        parts = RayParts(folder / "scores", n_actors=n_actors)
        loading = cc_hf.LoadingOptions(part=parts, cache=cache)
        cc_hf.evaluate(material, translations=translations, loading=loading)
    except PartDone as done:
        print(f"{done.n_new:,} of {done.n_pairs:,} scores were computed")
        merge(ScoreCache(cache), sorted((folder / "scores").glob("*.parquet")))
    loading = cc_hf.LoadingOptions(cache=cache)
    result = cc_hf.evaluate(material, translations=translations, loading=loading)
    (folder / "result.json").write_text(result.to_json(), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3], Path(sys.argv[4]), *map(int, sys.argv[5:]))
