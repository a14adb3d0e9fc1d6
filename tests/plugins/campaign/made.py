"""A campaign that is made for tests: four language pairs, files named in all ways, planted faults.

The metric reads whether a translation has the name Maria.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.helpers.usual import write_jsonl, write_lines, write_text

PAIRS = ("en-de", "en-es", "en-fr", "en-pt")
SYSTEMS = tuple(f"sys{letter}" for letter in "ABCDEFGHIJKL")
N = 12
_TEXTS = {
    "de": "{name} sagte, dass sie gestern nicht mit dem Patienten {n} gesprochen hat.",
    "es": "{name} dijo que ella no había hablado con el paciente {n} por la mañana.",
    "fr": "{name} a dit qu'elle n'avait pas parlé avec le patient {n} dans la rue.",
    "pt": "{name} disse que não tinha falado com o paciente {n} porque ela não quis.",
}
_NAMES = {
    "de": ("Die Ärztin Maria", "Der Arzt"),
    "es": ("La doctora Maria", "El doctor"),
    "fr": ("La docteure Maria", "Le docteur"),
    "pt": ("A doutora Maria", "O doutor"),
}


def write_rows(folder: Path) -> Path:
    """Write the sentences of the test set."""
    return write_jsonl(
        folder / "suite.jsonl",
        [
            {
                "id": f"s{n}",
                "source": f"The doctor said that she had not talked to patient {n}.",
                "focus": "doctor",
                "gold": "female" if n % 2 else "male",
                "src_lang": "en",
            }
            for n in range(N)
        ],
    )


def texts(system: str, pair: str) -> list[str]:
    """Return the translations of a system, of which the first ones have the name."""
    target = pair[-2:]
    n_right = SYSTEMS.index(system) % (N + 1)
    return [_TEXTS[target].format(name=_NAMES[target][n >= n_right], n=100 + n) for n in range(N)]


def _wmt17(folder: Path, system: str, pair: str) -> None:
    write_lines(folder / f"newstest2017.{system}.4910.{pair}", texts(system, pair))


def _wmt22(folder: Path, system: str, pair: str) -> None:
    name = f"wmttest2022.{pair}.hyp.{system}.{pair[-2:]}"
    write_lines(folder / "wmt22" / name, texts(system, pair))


def _plain(folder: Path, system: str, pair: str) -> None:
    write_lines(folder / f"{pair}.{system}.txt", texts(system, pair))


def _by_pair(folder: Path, system: str, pair: str) -> None:
    write_lines(folder / pair / f"{system}.txt", texts(system, pair))


def _by_system(folder: Path, system: str, pair: str) -> None:
    write_lines(folder / system / f"{pair}.txt", texts(system, pair))


def _json(folder: Path, system: str, pair: str) -> None:
    rows = [
        {"doc_id": f"{pair}_#_made_#_s{n}", "hypothesis": text, "metadata": {"system": system}}
        for n, text in enumerate(texts(system, pair))
    ]
    # The order of the rows says nothing.
    write_jsonl(folder / f"submission-{system}-{pair[-2:]}.jsonl", reversed(rows))


WAYS: tuple[Callable[[Path, str, str], None], ...] = (
    _wmt17,
    _wmt22,
    _plain,
    _by_pair,
    _by_system,
    _json,
)
#: These two are in one file of XML for each pair.
IN_XML = ("sysK", "sysL")


def write_xml(folder: Path, pair: str) -> Path:
    """Write the two systems of a pair as WMT does."""
    rows = read_sources()
    segments = {"src": rows, **{system: texts(system, pair) for system in IN_XML}}
    parts = []
    for side, lines in segments.items():
        is_source = side == "src"
        head = 'src lang="en"' if is_source else f'hyp system="{side}" lang="{pair[-2:]}"'
        body = "".join(f'<seg id="{n}">{text}</seg>' for n, text in enumerate(lines, 1))
        parts.append(f"<{head}><p>{body}</p></{'src' if is_source else 'hyp'}>")
    document = f'<doc origlang="en" id="d">{"".join(parts)}</doc>'
    text = f'<?xml version="1.0"?>\n<dataset id="made">{document}</dataset>\n'
    return write_text(folder / f"all.{pair}.xml", text)


def read_sources() -> list[str]:
    """Return the sources of the rows."""
    return [f"The doctor said that she had not talked to patient {n}." for n in range(N)]


def write_fitting(folder: Path, refused: set[tuple[str, str]] | None = None) -> None:
    """Write all submissions in all ways of naming them.

    Args:
        refused: systems and pairs that have no file that fits.
    """
    for number, system in enumerate(SYSTEMS):
        for shift, pair in enumerate(PAIRS):
            if system not in IN_XML and (system, pair) not in (refused or set()):
                WAYS[(number + shift) % len(WAYS)](folder, system, pair)
    for pair in PAIRS:
        write_xml(folder, pair)


#: What a fault lacks -> words of the reason that must be given.
FAULTS = {
    "en-xx.sysA.txt": "'xx' is no code of a language",
    "de-en.sysA.txt": "expected a language pair of",
    "nobody.txt": "expected a language pair in the name",
    "en-fr/sysB.en-de.txt": "got en-de in the name and en-fr in that of the folder",
    "en-es.txt": "expected the name of a system",
    "en-de.sysC.txt": "expected 12 lines, got 11",
    "en-es.sysD.txt": "UTF-8",
    "en-fr.sysE.txt": "got an empty file",
    "en-pt.sysF.txt": "expected texts in Portuguese, got Spanish in 12 of the first 12",
    "wmttest2022.en-de.src.en": "got a source or a reference",
    "en-de.sysG.txt": "expected one file for sysG in en-de, got another file than",
    "newstest2017.sysG.4911.en-de": "another file than en-de.sysG.txt",
    "en-de.gone.txt": "got a broken link",
    "submission-sysH.jsonl": "expected a hypothesis for each of 12 examples",
}
#: What the faults above take away.
REFUSED = {
    *(("sysC", "en-de"), ("sysD", "en-es"), ("sysE", "en-fr"), ("sysF", "en-pt")),
    *(("sysG", "en-de"), ("sysH", "en-es")),
}


def write_faults(folder: Path) -> None:
    """Write the files that do not fit."""
    for name in ("en-xx.sysA.txt", "de-en.sysA.txt", "nobody.txt"):
        write_lines(folder / name, texts("sysA", "en-de"))
    write_lines(folder / "en-fr" / "sysB.en-de.txt", texts("sysB", "en-de"))
    write_lines(folder / "en-es.txt", texts("sysA", "en-es"))
    write_lines(folder / "en-de.sysC.txt", texts("sysC", "en-de")[:-1])
    (folder / "en-es.sysD.txt").write_bytes("año\n".encode("latin-1") * N)
    write_text(folder / "en-fr.sysE.txt", "")
    write_lines(folder / "en-pt.sysF.txt", texts("sysF", "en-es"))
    write_lines(folder / "wmttest2022.en-de.src.en", read_sources())
    (folder / "en-de.gone.txt").symlink_to("nowhere.txt")
    write_lines(folder / "en-de.sysG.txt", texts("sysG", "en-de"))
    write_lines(folder / "newstest2017.sysG.4911.en-de", texts("sysA", "en-de"))
    row = {
        "doc_id": "en-es_#_made_#_other",
        "hypothesis": "La doctora.",
        "metadata": {"system": "sysH"},
    }
    write_text(folder / "submission-sysH.jsonl", json.dumps(row) + "\n")


def fitting() -> Iterator[tuple[str, str]]:
    """Yield the systems and pairs that have a file that fits beside the faults."""
    for system in SYSTEMS:
        for pair in PAIRS:
            if (system, pair) not in REFUSED:
                yield system, pair
