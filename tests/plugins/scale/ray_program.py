"""A program that scores by Ray; a test starts it in a network of its own, with loopback only."""

import importlib
import json
import math
import os
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import ray

import cc_hf
from cc_hf.errors import CCError
from cc_hf.evaluators.score_cache import ScoreCache
from cc_hf.evaluators.scores import TokenScores
from cc_hf.plugins.scale import ray_data
from cc_hf.plugins.scale.merging import merge
from cc_hf.plugins.scale.parts import PartDone
from examples import ray_parts
from tests.helpers.lines import write_lines

_N = 60
_SCORER = ray_data._Scorer


class DyingScorer(_SCORER):
    """A scorer of which the first process is killed between its file and its answer."""

    def __call__(self, plan: Mapping[str, Any]) -> dict[str, list[Any]]:
        written = super().__call__(plan)
        with suppress(FileExistsError):
            (self.folder / "killed").touch(exist_ok=False)
            os.kill(os.getpid(), signal.SIGKILL)
        return written


class FailingScorer(_SCORER):
    """A scorer with a score that no model gives."""

    def __call__(self, plan: Mapping[str, Any]) -> dict[str, list[Any]]:
        def with_nan(_: object, sources: list[Any], targets: list[Any]) -> TokenScores:
            return TokenScores.of_rows([(math.nan, 1, 0.5)] * len(sources))

        with patch("cc_hf.evaluators.families.seq2seq.Seq2SeqEvaluator.score_batch", with_nan):
            return super().__call__(plan)


_TEXTS = ["Sie ist Ärztin.", "Er ist Arzt.", "Es war \U0001d49c da."] * (_N // 3)


def _evaluate(**loading: Any) -> str:
    """Return the result, or what was raised in its place."""
    material = cc_hf.load_material("simplegen", "en-de", limit=_N)
    options = cc_hf.LoadingOptions(**{"mode": "exact", **loading})
    try:
        return cc_hf.evaluate(material, translations=_TEXTS, loading=options).to_json()
    except PartDone as done:
        return f"{done.n_new} of {done.n_pairs}"
    except CCError as error:
        return f"{type(error).__name__}: {error}"


def _example(folder: Path) -> str:
    """Return the result that the example of the documentation writes."""
    folder.mkdir()
    texts = write_lines(folder / "texts.de.txt", _TEXTS)
    with patch("cc_hf.load_material", partial(cc_hf.load_material, limit=_N)):
        ray_parts.main(folder, "simplegen", "en-de", texts)
    return (folder / "result.json").read_text(encoding="utf-8")


def _n_processes() -> int:
    psutil: Any = importlib.import_module("psutil")  # accelerate needs it; it has no types
    return sum("ray" in child.name() for child in psutil.Process().children(recursive=True))


def main(folder: Path) -> None:
    """Write what happened as JSON."""
    scores, cache = folder / "scores", folder / "scores.sqlite"
    parts = ray_data.RayParts(scores, n_actors=2)
    happened: dict[str, Any] = {"plain": _evaluate(), "auto": _evaluate(mode="auto")}
    ray_data._Scorer = DyingScorer  # type: ignore[misc]
    happened["killed"] = _evaluate(part=parts)
    happened["left"] = {
        "is_initialized": ray.is_initialized(),
        "n_processes": _n_processes(),
        "was_killed": (scores / "killed").exists(),
    }
    ray_data._Scorer = _SCORER  # type: ignore[misc]
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    happened["too few"] = _evaluate(part=ray_data.RayParts(folder / "few", n_actors=2))
    files = sorted(scores.glob("*.parquet"))
    merge(ScoreCache(folder / "part.sqlite"), files[:1])
    happened["n_removed"] = ScoreCache(folder / "part.sqlite").info().n_scores
    files[0].unlink()
    happened["continued"] = _evaluate(part=ray_data.RayParts(scores))
    happened["again"] = _evaluate(part=ray_data.RayParts(scores))
    merge(ScoreCache(cache), sorted(scores.glob("*.parquet")))
    happened["merged"] = _evaluate(cache=cache)
    happened["example"] = _example(folder / "example")
    ray_data._Scorer = FailingScorer  # type: ignore[misc]
    happened["failed"] = _evaluate(part=ray_data.RayParts(folder / "failed"))
    happened["other"] = _evaluate(part=ray_data.RayParts(scores), batch_tokens=500)
    happened["is_joined"] = ray.is_initialized()
    ray.shutdown()
    (folder / "happened.json").write_text(json.dumps(happened), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
