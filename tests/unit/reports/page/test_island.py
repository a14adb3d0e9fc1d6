import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_hf.reports.highlights import attributes
from cc_hf.reports.page.island import explorer_data, island_json
from cc_hf.reports.report import build_report
from cc_hf.reports.samples import System
from cc_hf.schema import VERDICTS, ContrastiveTranslationExample
from tests.helpers import reported
from tests.helpers.reported import ATTACK, N


@given(
    st.text(alphabet=st.characters(codec=None))
    | st.sampled_from(["</script>", "<!--", "]]>", "\u2028\u2029", "\ud800"])
)
def test_no_text_can_end_the_script_element(text: str) -> None:
    found = island_json([text])
    assert json.loads(found) == [text]
    assert not set("<>&\u2028\u2029") & set(found)
    found.encode("utf-8")


def test_texts_are_stored_once_and_can_be_restored() -> None:
    report = reported.report()
    data: dict[str, Any] = json.loads(island_json(explorer_data(report, attributes(report))))
    strings, samples = data["strings"], data["samples"]
    assert len(strings) == len(set(strings))
    assert strings.count(ATTACK) == 1
    assert data["categories"] == list(report.categories)
    for at, (sample, example) in enumerate(zip(report.samples, reported.examples(), strict=True)):
        assert strings[samples["id"][at]] == sample.id
        source = strings[samples["source"][at]]
        assert source == example.source
        start, length = samples["focus"][at]
        assert _slice(source, start, start + length) == "cook"
        for side in ("correct", "incorrect"):
            made = []
            for a, b, t in samples[side][at]:
                made.append(_slice(source, 0, a) + strings[t] + _slice(source, b, None))
            assert made == list(getattr(example, f"{side}_sources"))
        for system in (0, 1):
            assert strings[data["translations"][system][at]] == sample.translations[system]
            judgements: Any = sample.judgements[system]
            by_probability, by_words = (data["judgements"][metric][system] for metric in (0, 1))
            for own, judgement in zip((by_probability, by_words), judgements, strict=True):
                assert VERDICTS[own["verdict"][at]] == judgement.verdict
            probability = judgements[0].probability_correct
            assert by_probability["p"][at] == pytest.approx(probability, abs=1e-4)
            assert by_probability["weight"][at] == judgements[0].weight
            assert by_words["p"] == 0
            assert strings[by_words["gold"][at]] == judgements[1].gold
    labels, others = data["labels"]
    assert others == {}
    found = {at: (row[0], *(strings[k] for k in row[1:])) for at, row in labels.items()}
    expected = {"0": (0, "Male", "Male"), "1": (-1, "male", "female"), "2": (1, *["female"] * 2)}
    assert found == expected


def test_data_without_examples_has_no_sources() -> None:
    report = reported.report(with_examples=False)
    data = explorer_data(report, attributes(report))
    assert set(data["samples"]["source"]) == {-1}
    assert data["samples"]["correct"] == [[]] * N
    assert data["tgt_lang"] == "de"


def test_contrastive_translations_are_part_of_the_data() -> None:
    result = reported.results(0)["words"]
    texts = ("en", "de", "The cook.", "Der Koch.", ("Die Köchin.",))
    kind = ContrastiveTranslationExample
    found = [kind(j.example_id, *texts, j.category) for j in result.judgements]
    report = build_report([System("a", {"words": result})], examples=found)
    data = explorer_data(report, attributes(report))
    assert data["samples"]["form"] == [1] * N
    (start, end, text), *_ = data["samples"]["incorrect"][0]
    assert (start, end, data["strings"][text]) == (0, 0, "Die Köchin.")


def _slice(text: str, start: int, end: int | None) -> str:
    """Slice text as JavaScript does."""
    units = text.encode("utf-16-le")
    return units[2 * start : None if end is None else 2 * end].decode("utf-16-le")
