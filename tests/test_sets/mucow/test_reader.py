from pathlib import Path
from typing import Any

from cc_hf.errors import DataError
from cc_hf.test_sets.mucow import reader as mucow
from cc_hf.test_sets.mucow.files import COUNTS, CUES, KEY, REF, SUITE, TEXT
from tests.helpers.usual import cases, fails, write_text


def with_cues(
    tmp_path: Path,
    *,
    text: str = "An ace.",
    key: str = "1\tted\tace\tas\tprofi experte",
    cue: str = '{"correct_insertions": ["b", "a"], "incorrect_insertions": ["c"]}',
    config: str = "en-de",
) -> list[Any]:
    counts = '{"ace - as": 2, "ace - profi experte": 1}'
    contents = {TEXT: text, KEY: key, REF: "Ein Ass.", CUES: cue, COUNTS: counts}
    paths = {}
    for number, (name, content) in enumerate(contents.items()):
        paths[name.format("en-de")] = write_text(tmp_path / str(number), content + "\n")
    return list(mucow.read_mucow(paths, config, "test"))


@cases(
    ("An ace in place, an ace!", "en-de", "An {0} ace in place, an {0} ace!"),
    ("An ace in place.", "en-de.emnlp2021", "An {0} ace in pl{0} ace."),
    ("Two aces.", "en-de", "Two {0} aces."),
    ("Ace it.", "en-de", "{0} Ace it."),
    ("AN ACE.", "en-de", None),
)
def test_cues_precede_whole_tokens(text: str, config: str, expected: Any, tmp_path: Path) -> None:
    actual = [example.correct_sources for example in with_cues(tmp_path, text=text, config=config)]
    assert actual == ([] if expected is None else [tuple(map(expected.format, "ab"))])


@cases(
    ({"text": "a\nb"}, "expected files with the same number of lines, got 2 in .*0, 1 in .*1"),
    ({"key": "1\tted\tace\tas"}, "line 1: expected 5 columns .*, got 4"),
    ({"cue": "{}"}, "line 1: expected the key .correct_insertions., got {}"),
    ({"cue": "[1]"}, "line 1: expected a JSON object, got"),
    ({"cue": "x"}, "line 1: expected a JSON object, got .x."),
)
def test_malformed_files_are_refused(changed: dict[str, str], message: str, tmp_path: Path) -> None:
    fails(DataError, message, with_cues, tmp_path, **changed)


@cases(
    ("hora\tx\tin\t5\t5", "the sense 'čas' of 'hora' is not in the pair's domain file"),
    ("hora\tčas\tmaybe\t5\t5", "line 1: expected 5 columns .* in or out"),
)
def test_a_sense_must_have_a_domain(domain: str, message: str, tmp_path: Path) -> None:
    paths = {}
    files = {"text": "Hora.", "key": "1\tted\thora\tčas\thora", "ref": "Čas.", "domain": domain}
    for end, content in files.items():
        paths[SUITE.format("en-cs", end)] = tmp_path / end
        (tmp_path / end).write_text(content + "\n", encoding="utf-8")
    fails(DataError, message, list, mucow.read_mucow(paths, "en-cs", "test"))


def test_every_configuration_declares_the_languages_of_its_name() -> None:
    for config in mucow.DECLARATION.configs:
        pair = config.name.removeprefix("scoring.").partition(".")[0]
        assert pair == f"{config.src_lang}-{config.tgt_langs[0]}"
