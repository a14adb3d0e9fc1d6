"""A package can add files that transformers does not read, and names of models that have them."""

from pathlib import Path

import pytest

import cc_hf
from cc_hf.models.location import TINY_EN_DE, default_evaluator
from tests.helpers.plugins import add_package
from tests.helpers.usual import printed_by, refuses

_TOY = """
from pathlib import Path
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer
from cc_hf.evaluators.families.marian import MarianEvaluator
from cc_hf.models.location import TINY_EN_DE
from cc_hf.models.model_format import ModelFormat

class Toys(ModelFormat):
    name, noun, project, expected = "toy", "toy", "the shop", "a folder with a toy"

    def located(self, name):
        return str(Path(__file__).parent / "shop"), ("en", "fi")

    def suggestion(self, src_lang, tgt_lang):
        return "'toy:en-fi', a toy" if tgt_lang == "fi" else ""

    def about(self):
        return "a toy"

    def is_in(self, folder):
        return Path(folder, "toy").is_file()

    def load(self, folder):
        model = AutoModelForSeq2SeqLM.from_pretrained(TINY_EN_DE.path, dtype="float32")
        return model, AutoTokenizer.from_pretrained(TINY_EN_DE.path)

    def identity(self, folder):
        return "0123456789ab"

    def convert(self, source, *, output):
        raise NotImplementedError

TOYS = Toys()
"""


@pytest.fixture
def shop(site: Path) -> Path:
    points = {"model_formats": "toy:TOYS", "evaluator_families": "toy:MarianEvaluator"}
    add_package(
        site, "toy", {f"cc_hf.{kind}": {"toy": target} for kind, target in points.items()}, _TOY
    )
    (site / "shop").mkdir()
    (site / "shop/toy").write_bytes(b"")
    return site / "shop"


def test_models_of_an_added_format_are_found_loaded_and_listed(shop: Path) -> None:
    named, of_folder = cc_hf.load_evaluator("toy:en-fi"), cc_hf.load_evaluator(shop)
    assert (named.name, named.tgt_lang, of_folder.name) == ("toy:en-fi", "fi", "shop")
    assert named.identity == of_folder.identity == "0123456789ab"
    texts = ["The doctor."], ["Der Arzt."]
    expected = cc_hf.load_evaluator(TINY_EN_DE.name).mean_logprobs(*texts)
    assert named.mean_logprobs(*texts) == of_folder.mean_logprobs(*texts) == expected
    assert "  toy:SOURCE-TARGET\n" in printed_by("list", "evaluators")


def test_what_does_not_fit_an_added_format_is_refused_in_its_words(shop: Path) -> None:
    refuses("a toy of the shop, which 'marian' does", cc_hf.load_evaluator, shop, kind="marian")
    refuses("such as 'toy:en-fi', a toy, or 'Helsinki", default_evaluator, "en", "fi")
