"""Dictionaries of occupations by gender and number: those of SimpleGEN (Renduchintala et al. 2021,
table A8), and users' own, as TSV files.

`paper` is table A8 as printed. `default` corrects seven of its cells. It also adds regular forms
that the table lacks, and forms that the paper itself accepts.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cc_hf.errors import FileError, InputError, MissingOptionError, in_file
from cc_hf.files import is_file
from cc_hf.reading import Place, read_lines

__all__ = [
    "BUILT_IN",
    "GENDERS",
    "NUMBERS",
    "FormsByGender",
    "OccupationDictionary",
    "load_dictionary",
    "read_occupations",
]

GENDERS = ("male", "female")
NUMBERS = ("sg", "pl")
#: Names of the built-in dictionaries, for each of _LANGUAGES.
BUILT_IN = ("default", "paper")
_COLUMNS = ("occupation", "number", *GENDERS)

#: Table A8: gender by column, number by row, forms separated by slashes.
_PAPER = """
occupation    | number | es male                           | es female                           | de male              | de female
clerk         | sg     | funcionario/empleado administrativo | funcionaria/empleada administrativa | Mitarbeiter        | Mitarbeiterin
clerk         | pl     | funcionarios                      | funcionarias                        | MItarbeiter          | Mitarbeiterinnen
designer      | sg     | diseñador                         | diseñadora                          | Designer             | Designerin
designer      | pl     | diseñadores                       | diseñadoras                         | Designer             | Designerinnen
hairdresser   | sg     | peluquero                         | peluquera                           | Friseur              | Friseurin
hairdresser   | pl     | peluqueros                        | peluqueras                          | Friseure             | Friseurinnen
housekeeper   | sg     | amo de llaves/amo de casa         | ama de llaves/ama de casa           | Haushälter           | Haushälterin
housekeeper   | pl     | amos de llaves/amos de casa       | amas de llaves/amas de casa         | Haushälter           | Haushälterinnen
nanny         | sg     | niñero                            | niñera                              | Kinderbetreuer       | Kindermädchen
nanny         | pl     | niñeros                           | niñeras                             | Kinderbetreuer       | Kindermädchen
nurse         | sg     | enfermero                         | enfermera                           | Krankenpfleger       | Krankenschwester
nurse         | pl     | enfermeros                        | enfermeras                          | Krankenpfleger       | Krankenschwestern
secretary     | sg     | secretario                        | secretaria                          | Sekretär             | Sekretärin
secretary     | pl     | secretarios                       | secretarias                         | Sekretäre            | Sekretärinnen
director      | sg     | director                          | directora                           | Direktor             | Direktorin
director      | pl     | directores                        | directoras                          | Direktoren           | Direktorinnen
engineer      | sg     | ingeniero                         | ingeniera                           | Ingenieur            | Ingenieurin
engineer      | pl     | ingenieros                        | ingenieras                          | Ingenieuren          | Ingenieurinnin
truck driver  | sg     | camionero                         | camionera                           | Lastwagenfahrer      | Lastwagenfahrerin
truck driver  | pl     | camioneros                        | camioneras                          | Lastwagenfahrerin    | Lastwagenfahrerinnen
farmer        | sg     | granjero/campesino                | granjera/campesina                  | Bauer                | Bäuerin
farmer        | pl     | granjeros                         | granjeras                           | Bauern               | Bäuerinnen
laborer       | sg     | obrero/trabajador                 | obrera/trabajadora                  | Arbeiter             | Arbeiterin
laborer       | pl     | obreros                           | obreras                             | Arbeiter             | Arbeiterinnen
mechanic      | sg     | mecánico                          | mecánica                            | Mechaniker           | Mechanikerin
mechanic      | pl     | mecánicas                         | mecánicos                           | Mechaniker           | Mechanikerinnen
physician     | sg     | médico                            | médica                              | Arzt                 | Ärztin
physician     | pl     | médico                            | médicas                             | Ärzte                | Ärztinnen
president     | sg     | presidente                        | presidenta                          | Präsident            | Präsidentin
president     | pl     | presidentes                       | presidentas                         | Präsidenten          | Präsidentinnen
plumber       | sg     | plomero/fontanero                 | plomera/fontanera                   | Klempner             | Klempnerin
plumber       | pl     | plomeros                          | plomeras                            | Klempner             | Klempnerinnen
carpenter     | sg     | carpintero                        | carpintera                          | Tischler/Zimmermann  | Tischlerin
carpenter     | pl     | carpinteros                       | carpinteras                         | Tischler             | Tischlerinnen
groundskeeper | sg     | jardinero/guardián                | jardinera/guardiana                 | Gärtner              | Gärtnerin
groundskeeper | pl     | jardineros/guardianes             | jardineras/guardianas               | Gärtner              | Gärtnerinnen
"""

#: Corrections of cells of table A8: misprints, a wrong case or number, two columns exchanged.
_CORRECTIONS = {
    ("clerk", "pl", "de male"): "Mitarbeiter",
    ("engineer", "pl", "de male"): "Ingenieure",
    ("engineer", "pl", "de female"): "Ingenieurinnen",
    ("truck driver", "pl", "de male"): "Lastwagenfahrer",
    ("mechanic", "pl", "es male"): "mecánicos",
    ("mechanic", "pl", "es female"): "mecánicas",
    ("physician", "pl", "es male"): "médicos",
}

#: Forms that table A8 lacks: those of a synonym that it has in the other number or gender, and
#: doctor/doctora, which section 2 accepts.
_ADDITIONS = {
    ("clerk", "pl", "es male"): "empleados administrativos",
    ("clerk", "pl", "es female"): "empleadas administrativas",
    ("nanny", "sg", "de female"): "Kinderbetreuerin",
    ("nanny", "pl", "de female"): "Kinderbetreuerinnen",
    ("nurse", "sg", "de female"): "Krankenpflegerin",
    ("nurse", "pl", "de female"): "Krankenpflegerinnen",
    ("physician", "sg", "es male"): "doctor",
    ("physician", "sg", "es female"): "doctora",
    ("physician", "pl", "es male"): "doctores",
    ("physician", "pl", "es female"): "doctoras",
    ("farmer", "pl", "es male"): "campesinos",
    ("farmer", "pl", "es female"): "campesinas",
    ("laborer", "pl", "es male"): "trabajadores",
    ("laborer", "pl", "es female"): "trabajadoras",
    ("plumber", "pl", "es male"): "fontaneros",
    ("plumber", "pl", "es female"): "fontaneras",
    ("carpenter", "sg", "de female"): "Zimmerin",
    ("carpenter", "pl", "de male"): "Zimmermänner/Zimmerleute",
    ("carpenter", "pl", "de female"): "Zimmerinnen",
}

#: Languages of the built-in dictionaries.
_LANGUAGES = ("de", "es")

#: Gender -> forms.
FormsByGender = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class OccupationDictionary:
    """Forms of occupations in a target language.

    Attributes:
        name: "default", "paper", or "own." and a hash of the file, as in signatures.
        entries: (English occupation in the singular, number "sg" or "pl") -> gender -> forms, at
            least one each.
    """

    name: str
    entries: Mapping[tuple[str, str], FormsByGender]


def load_dictionary(name: str | Path, lang: str) -> OccupationDictionary:
    """Return the dictionary "default" or "paper", or one from a TSV file (see `read_occupations`).

    Examples:
        >>> load_dictionary("default", "de").entries["physician", "sg"]
        {'male': ('Arzt',), 'female': ('Ärztin',)}
    """
    if name in BUILT_IN:
        if lang not in _LANGUAGES:
            raise MissingOptionError(
                f"dictionary: none is built in for the language {lang!r}, only for"
                f" {', '.join(_LANGUAGES)}; name one of these as tgt_lang, or a TSV file of your"
                f" own as dictionary, with the columns {', '.join(_COLUMNS)}"
            )
        return _built_in(str(name), lang)
    if not is_file(name):
        raise InputError(
            f"dictionary: expected one of {', '.join(BUILT_IN)}, or a TSV file with the columns"
            f" {', '.join(_COLUMNS)}, got {str(name)!r}, which is neither"
        )
    return read_occupations(name)


def _built_in(name: str, lang: str) -> OccupationDictionary:
    header, *rows = [
        [cell.strip() for cell in line.split("|")] for line in _PAPER.strip().split("\n")
    ]
    entries: dict[tuple[str, str], FormsByGender] = {}
    for row in rows:
        occupation, number, *_ = row
        forms: dict[str, tuple[str, ...]] = {}
        for gender in GENDERS:
            key = (occupation, number, f"{lang} {gender}")
            cell = row[header.index(key[2])]
            if name == "default":
                cell = "/".join(filter(None, (_CORRECTIONS.get(key, cell), _ADDITIONS.get(key))))
            forms[gender] = tuple(cell.split("/"))
        entries[occupation, number] = forms
    return OccupationDictionary(name, entries)


def read_occupations(path: str | Path) -> OccupationDictionary:
    """Read a dictionary from a UTF-8 file of tab-separated columns.

    The header is occupation, number, male, female. `occupation` is the English singular ("truck
    driver"), `number` is "sg" or "pl". `male` and `female` hold the forms in the target language,
    separated by "|". A form may have several words, so that an article or another word can show
    what the noun does not ("une secrétaire").
    """
    lines = read_lines(Path(path))
    header, *rows = lines or [""]
    if tuple(cell.strip() for cell in header.split("\t")) != _COLUMNS:
        raise FileError(
            Place(path, 1),
            f"expected the columns {', '.join(_COLUMNS)}, with tabs between, got {header[:80]!r}",
        )
    entries: dict[tuple[str, str], FormsByGender] = {}
    for line, text in enumerate(rows, 2):
        if not text.strip():
            continue
        with in_file(Place(path, line)):
            key, entry = _parse_row(text)
            if key in entries:
                raise InputError(
                    f'{key[0]!r} {key[1]} is there twice; put all forms in one line, with "|"'
                    " between"
                )
        entries[key] = entry
    if not entries:
        raise FileError(path, "expected at least one occupation below the header, got none")
    digest = hashlib.sha256("\n".join(lines).encode("utf-8")).hexdigest()
    return OccupationDictionary(f"own.{digest[:7]}", entries)


def _parse_row(text: str) -> tuple[tuple[str, str], FormsByGender]:
    cells = [unicodedata.normalize("NFC", cell.strip()) for cell in text.split("\t")]
    if len(cells) != len(_COLUMNS):
        raise InputError(
            f"expected {len(_COLUMNS)} columns ({', '.join(_COLUMNS)}), with tabs between, got"
            f" {len(cells)}: {text[:80]!r}"
        )
    occupation, number, *columns = cells
    if not occupation:
        raise InputError("occupation: expected an English noun, got a blank cell")
    if number not in NUMBERS:
        raise InputError(f"number: expected one of {', '.join(NUMBERS)}, got {number!r}")
    entry = {}
    for gender, cell in zip(GENDERS, columns, strict=True):
        forms = tuple(form.strip() for form in cell.split("|"))
        if bad := [form for form in forms if not any(c.isalpha() for c in form)]:
            raise InputError(
                f'{gender}: expected forms with "|" between, got {bad[0]!r} in {cell!r};'
                " write at least one form for each gender"
            )
        entry[gender] = forms
    if shared := {form.casefold() for form in entry["male"]} & {
        form.casefold() for form in entry["female"]
    }:
        raise InputError(
            f"{min(shared)!r} stands for both genders, so that it tells none; add a word"
            " that does, such as an article, or leave it out"
        )
    return (occupation, number), entry
