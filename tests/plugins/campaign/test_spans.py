"""Where an error is: in marked parts of a translation, or in the word that is aligned."""

from dataclasses import replace

from cc_hf.plugins.campaign.spans import ErrorSpan, error_lines, error_spans, score_lines
from cc_hf.results import EvaluationResult
from cc_hf.schema import ContrastiveSourceExample, Focus, Judgement, TextSpan

SOURCES = ("The (cook) left.", "The nurse slept.", "The cook slept.", "The nurse left.")
TEXTS = ("Der «Koch» ging.", "Der Pfleger schlief.", "Der Koch schlief.", "Die Pflegerin ging.")
VERDICTS = ("incorrect", "incorrect", "inconclusive", "correct")
PROBABILITIES = (0.25, None, None, 0.75)


def example(row: int) -> ContrastiveSourceExample:
    """Return a sentence with a person."""
    source = SOURCES[row]
    word = "cook" if "cook" in source else "nurse"
    return ContrastiveSourceExample(
        str(row),
        "en",
        "de",
        source,
        Focus(word, source.index(word)),
        (f"{source} [female]",),
        (f"{source} [male]",),
        "female",
        "female",
    )


EXAMPLES = [example(row) for row in range(4)]
JUDGEMENTS = tuple(
    Judgement(
        str(row),
        "female",
        VERDICTS[row] == "correct",
        TEXTS[row],
        VERDICTS[row],
        probability_correct=PROBABILITIES[row],
    )
    for row in range(4)
)
RESULT = EvaluationResult(
    "winomt", "default", "de", "m", "m|n:4", 4, {}, {}, (), JUDGEMENTS, system="a b"
)


def test_an_error_is_the_word_that_is_aligned_without_punctuation() -> None:
    first, second, inconclusive, right = error_spans(RESULT, EXAMPLES)
    assert first is not None
    assert second is not None
    assert {TEXTS[0][span.start : span.end] for span in first} <= {"Koch", "Der «Koch", "ging"}
    assert {span.score for span in first} == {0.75}
    assert {span.score for span in second} == {None}
    assert {span.category for span in (*first, *second)} == {"Accuracy/Gender mismatch"}
    assert inconclusive is None
    assert right == ()


def test_parts_that_a_metric_marks_are_the_errors() -> None:
    part = TextSpan("translation", 4, 11, "Pfleger", 2.0, "negation")
    left_out = TextSpan("source", 0, 3, "The", 1.0)
    judgements = (JUDGEMENTS[0], replace(JUDGEMENTS[1], spans=(part, left_out)))
    result = replace(RESULT, judgements=judgements, n=2)
    spans = error_spans(result, EXAMPLES)
    # Without a mark, nothing is known of the place, though the verdict is wrong.
    assert spans[0] is None
    assert spans[1] == (
        ErrorSpan(4, 11, "Accuracy/negation"),
        ErrorSpan(0, 3, "Accuracy/Gender mismatch", is_source_error=True),
    )
    (line,) = error_lines(result, EXAMPLES, spans, "en")
    assert '"segment_id": 2' in line


def test_scores_are_probabilities_or_verdicts() -> None:
    rows = [line.split("\t") for line in score_lines(RESULT, "en-de")]
    assert [row[-1] for row in rows] == ["0.25", "0", "None", "0.75"]
    assert rows[0][:5] == ["m", "en-de", "winomt/default", "a_b", "1"]
