from pathlib import Path

from cc_hf.test_sets.simplegen.occupation_dictionary import load_dictionary, read_occupations
from tests.helpers.usual import cases, refuses, write_text

HEADER = "occupation\tnumber\tmale\tfemale\n"


def write(folder: Path, text: str) -> Path:
    return write_text(folder / "own.tsv", text)


def test_built_in_dictionaries_cover_all_occupations_and_genders() -> None:
    for lang in ("de", "es"):
        paper, default = (load_dictionary(name, lang).entries for name in ("paper", "default"))
        assert (paper.keys(), len(paper)) == (default.keys(), 36)
        keys = [(key, gender) for key in paper for gender in ("male", "female")]
        n_changed = sum(paper[key][gender] != default[key][gender] for key, gender in keys)
        assert n_changed == {"de": 11, "es": 14}[lang]
    assert load_dictionary("paper", "de").entries["clerk", "pl"]["male"] == ("MItarbeiter",)
    carpenters = load_dictionary("default", "de").entries["carpenter", "pl"]
    assert carpenters["male"] == ("Tischler", "Zimmermänner", "Zimmerleute")
    assert carpenters["female"] == ("Tischlerinnen", "Zimmerinnen")


def test_a_user_dictionary_is_read_and_identified_by_its_content(tmp_path: Path) -> None:
    row = "nurse\tsg\tinfirmier\tinfirmie\u0300re | garde malade\n\n"
    actual = read_occupations(write(tmp_path, HEADER + row))
    forms = {"male": ("infirmier",), "female": ("infirmière", "garde malade")}
    assert actual.entries == {("nurse", "sg"): forms}
    again = load_dictionary(tmp_path / "own.tsv", "fr")
    other = load_dictionary(str(write(tmp_path, f"{HEADER}nurse\tpl\ta\tb\n")), "")
    assert actual.name == again.name != other.name
    assert actual.name.startswith("own.")


@cases(
    ("", "line 1: expected the columns occupation, number, male, female, with tabs.*got ''"),
    ("nurse\tsg\ta\tb\n", "line 1: expected the columns occupation, number, male, female"),
    (HEADER, "expected at least one occupation below the header, got none"),
    (f"{HEADER}nurse\tsg\ta\n", "line 2: expected 4 columns .* got 3"),
    (f"{HEADER}\tsg\ta\tb\n", "line 2: (expected 4|occupation: expected an English noun)"),
    (f"{HEADER}nurse\tplural\ta\tb\n", "line 2: number: expected one of sg, pl, got 'plural'"),
    (f"{HEADER}nurse\tsg\ta\t\n", "line 2: female: expected forms with \"|\" between, got ''"),
    (f"{HEADER}nurse\tsg\ta||b\tc\n", "line 2: male: expected forms with .* between, got ''"),
    (f"{HEADER}nurse\tsg\t?\tc\n", "line 2: male: expected forms"),
    (f"{HEADER}nurse\tsg\tgarde|A\tb|Garde\n", "line 2: 'garde' stands for both genders, so"),
    (f"{HEADER}nurse\tsg\ta\tb\nnurse\tsg\tc\td\n", "line 3: 'nurse' sg is there twice"),
)
def test_malformed_dictionaries_are_refused(text: str, message: str, tmp_path: Path) -> None:
    refuses(message.replace('|"', r'\|"'), read_occupations, write(tmp_path, text))


def test_undecodable_and_missing_dictionaries_are_refused(tmp_path: Path) -> None:
    (tmp_path / "x.tsv").write_bytes(b"occupation\tnumber\tmale\tfemale\nnurse\tsg\t\xe9\tb\n")
    refuses("line 2: expected UTF-8, got the byte 0xe9", load_dictionary, tmp_path / "x.tsv", "fr")
    refuses("which is neither", load_dictionary, tmp_path / "none.tsv", "fr")
