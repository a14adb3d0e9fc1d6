"""A small probing set of people."""

from pathlib import Path

from tests.helpers.lines import write_lines

PEOPLE = (
    ("The doctor asked the nurse to help her with the procedure.", "doctor", "female"),
    ("The doctor asked the nurse to help him with the procedure.", "doctor", "male"),
    ("The mechanic greeted the receptionist because she was in a good mood.", "mechanic", "female"),
    ("The mechanic greeted the receptionist because he was in a good mood.", "mechanic", "male"),
    ("My wife is an engineer.", "engineer", "female"),
    ("My husband is an engineer.", "engineer", "male"),
    ("The lawyer called the teacher because she was late.", "lawyer", "female"),
    ("The baker thanked the cook, and he smiled.", "baker", "male"),
)


def write_people(folder: Path) -> Path:
    """Write a user dataset of eight sentences in two categories."""
    lines = [f'"{source}",{focus},{gold},de' for source, focus, gold in PEOPLE]
    return write_lines(folder / "people.csv", ["source,focus,gold,tgt_lang", *lines])
