from __future__ import annotations

from cc_hf.text.tokenization import word_texts, word_tokens
from tests.helpers.cases import cases


@cases(
    ("the UN @-@ envoy", "the UN @-@ envoy"),
    ("and @/@ or", "and @/@ or"),
    ("it &apos;s", "it &apos; s"),
    ("l&apos;avocate &quot; x &amp; &#91; y", "l &apos; avocate &quot; x &amp; &#91; y"),
    ("a\N{NO-BREAK SPACE}bat", "a bat"),
    ("you @ home & away;", "you @ home & away ;"),
    ("isn't", "isn't"),
)
def test_a_mark_of_moses_is_one_token(text: str, expected: str) -> None:
    words = expected.split()
    assert word_texts(text) == words
    assert [text[token.start :][: len(token.text)] for token in word_tokens(text)] == words
