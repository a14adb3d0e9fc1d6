"""The folder of the embedded evaluator."""

from functools import partial
from pathlib import Path

import pytest
from huggingface_hub import ModelCard

from cc_hf.errors import UnknownNameError
from cc_hf.evaluation.calibration_file import CALIBRATION, read_calibration
from cc_hf.evaluators.loading import load_evaluator
from cc_hf.hub.models import build_model_folder
from cc_hf.models.location import TINY_EN_DE
from tests.helpers.fake_hub import FakeHub, run
from tests.helpers.usual import fails, refuses

SOURCES = ["The [female] doctor said she is late.", "The [male] doctor said she is late."]
TRANSLATIONS = ["Die Ärztin sagte, sie sei spät dran."] * 2


@pytest.fixture(scope="module")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("published") / "model"
    build_model_folder("cc-tiny-en-de", "org/tiny", output=output)
    return output


def test_transformers_loads_the_folder_by_its_auto_classes(model_folder: Path) -> None:
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model_folder)
    model = AutoModelForSeq2SeqLM.from_pretrained(model_folder)
    batch = tokenizer(["The doctor said she is late."], return_tensors="pt")
    output = model.generate(**batch, num_beams=2, max_new_tokens=20)
    assert tokenizer.batch_decode(output, skip_special_tokens=True)[0].startswith("Der Arzt")


def test_the_folder_is_the_embedded_model_as_an_evaluator(model_folder: Path) -> None:
    published = load_evaluator(model_folder, mode="exact")
    embedded = load_evaluator("cc-tiny-en-de", mode="exact")
    assert published.identity == TINY_EN_DE.identity
    languages = {"src_lang": "en", "tgt_lang": "de"}
    scores = published.mean_logprobs(SOURCES, TRANSLATIONS, **languages)
    assert list(scores) == list(embedded.mean_logprobs(SOURCES, TRANSLATIONS, **languages))
    calibration = read_calibration(model_folder / CALIBRATION)
    assert calibration.is_for(published, "en", "de")


def test_the_card_names_the_repository_and_the_licence(model_folder: Path) -> None:
    card = ModelCard.load(model_folder / "README.md")
    assert (card.data.license, card.data.library_name) == ("apache-2.0", "transformers")
    assert 'AutoModelForSeq2SeqLM.from_pretrained("org/tiny")' in card.text
    assert f"({CALIBRATION})" in card.text
    assert card.text.count("## Example\n") == 1


def test_publish_model_writes_or_sends_the_folder(hub: FakeHub, tmp_path: Path) -> None:
    command = ("model", "cc-tiny-en-de", "--repo", "org/tiny")
    output, _ = run(*command)
    assert "dry run: 9 files" in output
    assert "would be sent to the model https://huggingface.co/org/tiny" in output
    output, _ = run(*command, "--output", tmp_path / "model")
    assert str(tmp_path / "model" / CALIBRATION) in output.replace("\n", "")
    assert hub.paths == []
    _, error = run(*command, "--yes")
    assert error is None
    assert {"README.md", "model.safetensors", CALIBRATION} <= set(hub.repos["models/org/tiny"])


def test_unknown_models_and_bad_names_are_refused(tmp_path: Path) -> None:
    build = partial(build_model_folder, output=tmp_path / "a")
    fails(UnknownNameError, "did you mean 'cc-tiny-en-de'", build, "cc-tiny", "org/tiny")
    refuses("ORGANISATION/NAME", build, "cc-tiny-en-de", "tiny")
    assert not (tmp_path / "a").exists()
