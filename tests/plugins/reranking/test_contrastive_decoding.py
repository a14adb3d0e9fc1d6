import math
from typing import Any

import pytest
import torch

import cc_hf
from cc_hf.evaluators.teacher_forcing import pad_ids
from cc_hf.plugins.reranking.contrastive_decoding import CueContrast
from cc_hf.systems.nbest import cued_sources, translate_nbest
from cc_hf.systems.system import System
from cc_hf.systems.translate import Search, translate_lists
from tests.helpers import families
from tests.helpers.usual import EN_DE, cases

_SOURCES = ["the doctor asked her", "a nurse saw the guard", "they left"]
_OTHERS = ["the doctor asked him", "a nurse saw him", "they left him"]


class _Plain(CueContrast):
    """The same contrast without a cache: every step computes all tokens again."""

    def _continued(self, input_ids: torch.Tensor) -> torch.Tensor:
        self._cache = None
        return input_ids


@pytest.fixture(scope="module", params=["bergamot", "m2m_100", "marian", "mbart", "nllb", "t5"])
def system(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = families.BUILDERS[request.param](tmp_path_factory.mktemp(request.param))
    return cc_hf.load_evaluator(folder, **EN_DE)


def _encoded(system: Any, sources: list[str]) -> tuple[torch.Tensor, torch.Tensor]:
    ids = system.encode_sources(sources, "en", "de")
    return pad_ids(ids, pad=system.model.config.pad_token_id, device=torch.device("cpu"))


def _generated(system: Any, contrast: Any, weight: float, **options: Any) -> Any:
    options |= dict(zip(("input_ids", "attention_mask"), _encoded(system, _SOURCES), strict=True))
    if contrast:
        others = _encoded(system, _OTHERS)
        options["logits_processor"] = [contrast(system.model, *others, weight=weight)]
    torch.manual_seed(0)
    options |= system.generation_options("de")
    return system.model.generate(**options, max_new_tokens=12).tolist()


@cases({"num_beams": 1}, {"num_beams": 3}, {"num_beams": 1, "do_sample": True})
def test_the_cache_follows_beams_and_samples(options: dict[str, Any], system: Any) -> None:
    options = {"do_sample": False, **options}
    ways = (CueContrast, 4), (_Plain, 4), (CueContrast, 0), (None, 0)
    cached, plain, without, none = (_generated(system, *way, **options) for way in ways)
    assert cached == plain != none == without


def test_a_batch_and_single_sentences_agree(system: Any) -> None:
    search = Search(num_beams=3, n_best=2, contrast=0.5, max_new_tokens=12)
    assert translate_lists(system, _SOURCES, others=_OTHERS, search=search) == [
        translate_lists(system, [source], others=[other], search=search)[0]
        for source, other in zip(_SOURCES, _OTHERS, strict=True)
    ]


def test_only_plausible_tokens_gain_and_forced_ones_stay(system: Any) -> None:
    processor = CueContrast(system.model, *_encoded(system, _OTHERS), weight=0.5)
    scores = torch.zeros(3, system.n_vocabulary)
    scores[0, 3] = 10  # the others are less than a tenth as probable
    scores[1] = -math.inf
    scores[1, 5] = 0.25
    ids = torch.full((3, 1), system.model.config.pad_token_id)
    given = processor(ids, scores)
    assert torch.isfinite(given[0]).nonzero().flatten().tolist() == [3]
    assert torch.equal(given[1], scores[1])
    never = torch.isinf(processor._other_logprobs(ids)[2])  # padding, in some families
    assert torch.equal(torch.isfinite(given[2]), ~never)


def test_cues_change_what_the_embedded_system_writes() -> None:
    example = cc_hf.load_examples("simplegen", "en-de")[0]
    correct, incorrect = cued_sources([example] * 2)
    assert (correct[0], incorrect[0]) == (example.correct_sources[0], example.incorrect_sources[0])
    sources = [f"The [{gender}] doctor said that she was ill." for gender in ("female", "male")]
    lists = translate_nbest(sources, System("cc-tiny-en-de"), contrast=0.5, others=sources[::-1])
    words = [" ".join(hypotheses[0].text.split()[:2]) for hypotheses in lists]
    assert words == ["Die Ärztin", "Der Arzt"]
