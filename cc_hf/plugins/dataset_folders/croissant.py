"""Describe the folder of a dataset in Croissant 1.1 with its extension for responsible AI: JSON
that search engines and loaders of data read.

Everything comes from the folder itself, its card and its Parquet files. A date of publication,
which readers of Croissant expect, is missing, because nobody knows it before the upload.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import datasets
import pyarrow.parquet
from huggingface_hub import DatasetCard

from cc_hf.data.card_sections import plain_text
from cc_hf.data.declaration import DatasetDeclaration

__all__ = ["croissant", "croissant_text"]

_CONFORMS_TO = ["http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0"]
#: The terms of Croissant that its specification wants in every file, beside those of schema.org.
_TERMS = (
    "arrayShape citeAs column containedIn equivalentProperty extract field fileProperty fileObject"
    " fileSet format includes isArray isLiveDataset jsonPath key md5 parentField path recordSet"
    " references regex repeated replace samplingRate separator source subField transform"
)
_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "description": {"@container": "@language"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "name": {"@container": "@language"},
    **{term: f"cr:{term}" for term in _TERMS.split()},
}
_TYPES = {
    "string": "sc:Text",
    "bool": "sc:Boolean",
    "int32": "cr:Int32",
    "int64": "cr:Int64",
    "float64": "cr:Float64",
}
_SPDX = {
    name.lower(): f"https://spdx.org/licenses/{name}.html"
    for name in ("Apache-2.0", "CC-BY-4.0", "CC-BY-NC-SA-4.0", "CC-BY-SA-3.0", "MIT")
}
#: A letter with an accent in BibTeX, such as {\\u{a}} or {\\'u}, and the accents in Unicode.
_ACCENT = re.compile(r"\{\\(.)(?:\{(\w)\}|(\w))\}")
_ACCENTS = dict(zip("'`^~\"uvc", "\u0301\u0300\u0302\u0303\u0308\u0306\u030c\u0327", strict=True))
_TO_ADD = re.compile(r"The author has to [^.]*\.")  # what a generated card lacks
_NO_ANSWERS = ("not known", "not applicable")


class _File(NamedTuple):
    """A Parquet file of the folder, which holds a split of a configuration."""

    config: str
    split: str
    path: str
    set_id: str


def croissant_text(folder: Path, declared: DatasetDeclaration, repo: str | None = None) -> str:
    """Return the content of croissant.json; arguments as for `croissant`."""
    return json.dumps(croissant(folder, declared, repo), ensure_ascii=False, indent=2) + "\n"


def croissant(
    folder: Path, declared: DatasetDeclaration, repo: str | None = None
) -> dict[str, Any]:
    """Describe a dataset folder in Croissant 1.1.

    `repo` is ORGANISATION/NAME on the Hub, from which files are then downloaded; None for a folder
    whose files lie beside croissant.json.
    """
    card = DatasetCard.load(folder / "README.md", ignore_metadata_errors=True)
    fields = card.data.to_dict()
    files = list(_files(folder, fields["configs"]))
    citations = re.findall(r"```bibtex\n(.*?)```", _section(card.text, "Citation"), re.DOTALL)
    bibtex = "\n\n".join(text.strip() for text in citations)
    title, introduction = _opening(card.text)
    licence = str(fields["license"])
    url = f"https://huggingface.co/datasets/{repo}" if repo else declared.homepage
    described = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": _CONFORMS_TO,
        "name": title,
        "description": introduction,
        "url": url,
        "license": _SPDX.get(licence, plain_text(_section(card.text, "Licence")) or licence),
        "version": declared.version,
        "citeAs": bibtex,
        # the papers of a user's file are those of the method
        "creator": [] if declared.name == "custom" else _authors(bibtex),
        "inLanguage": fields.get("language"),
        "keywords": fields.get("tags"),
        **_responsible(card.text),
        "distribution": [_file_object(folder, file, repo) for file in files],
        "recordSet": [_record_set(folder, file) for file in files],
    }
    return {key: value for key, value in described.items() if value}


def _files(folder: Path, configs: list[dict[str, Any]]) -> Iterator[_File]:
    for config in configs:
        name, splits = config["config_name"], config["data_files"]
        for split in splits:
            for path in sorted(folder.glob(f"*/{split['split']}-*.parquet")):
                if path.parent.name == name:
                    parts = [name] if len(splits) == 1 else [name, split["split"]]
                    # an identifier is part of an address, in which names of files may mean more
                    set_id = "/".join(quote(part, safe="") for part in parts)
                    relative = path.relative_to(folder).as_posix()
                    yield _File(name, split["split"], relative, set_id)


def _opening(text: str) -> tuple[str, str]:
    """Return the title of a card and its introduction, without marks."""
    title, _, rest = text.partition("# ")[2].partition("\n")
    return plain_text(title).replace("\\", ""), plain_text(rest.partition("\n## ")[0])


def _section(text: str, heading: str) -> str:
    """Return what stands under a heading, up to the next one of any level."""
    rest = f"\n{text}".partition(f"# {heading}\n")[2]
    return re.split("^##+ ", rest, maxsplit=1, flags=re.MULTILINE)[0].strip()


def _responsible(card: str) -> dict[str, Any]:
    """Return the fields of the extension for responsible AI from the sections of a card."""
    text = _TO_ADD.sub("", card)
    statement = dict(
        re.findall(
            r"^- \*\*(.+?)\*\*: (.+(?:\n  .*)*)",
            _section(text, "Data statement"),
            re.MULTILINE,
        )
    )
    annotators = plain_text(statement.get("Annotator demographic", ""))
    collection = _section(text, "Source data and curation")
    values = {
        "dataCollection": plain_text(re.sub(r"```.*?```", "", collection, flags=re.DOTALL)),
        "dataBiases": _items(_section(text, "Biases")),
        "dataLimitations": _items(_section(text, "Limits")),
        "dataUseCases": _items(_section(text, "Supported tasks")),
        "annotatorDemographics": [] if annotators.lower().startswith(_NO_ANSWERS) else [annotators],
    }
    return {f"rai:{name}": value for name, value in values.items() if any(value)}


def _items(markdown: str) -> list[str]:
    """Return the paragraphs and the items of lists, each as one line without marks."""
    parts = re.split(r"\n\s*\n|^- ", markdown, flags=re.MULTILINE)
    return [text for text in map(plain_text, parts) if text]


def _authors(bibtex: str) -> list[dict[str, str]]:
    """Return the authors of the papers as persons, each once."""
    plain = unicodedata.normalize(
        "NFC", _ACCENT.sub(lambda match: (match[2] or match[3]) + _ACCENTS[match[1]], bibtex)
    )
    names = [
        " ".join(reversed(re.split(r",\s*", re.sub(r"[{}]", "", author))))
        for line in re.findall(r'author = ["{](.+)["}],$', plain, re.MULTILINE)
        for author in line.split(" and ")
    ]
    return [{"@type": "sc:Person", "name": name} for name in dict.fromkeys(names)]


def _file_object(folder: Path, file: _File, repo: str | None) -> dict[str, str]:
    content = (folder / file.path).read_bytes()
    path = file.path
    if repo is not None:
        path = f"https://huggingface.co/datasets/{repo}/resolve/main/{quote(path)}"
    return {
        "@type": "cr:FileObject",
        "@id": f"{file.set_id}.parquet",
        "name": file.path,
        "contentUrl": path,
        "contentSize": f"{len(content)} B",
        "encodingFormat": "application/x-parquet",
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def _record_set(folder: Path, file: _File) -> dict[str, Any]:
    schema = pyarrow.parquet.read_schema(folder / file.path)
    features = datasets.Features.from_arrow_schema(schema)
    return {
        "@type": "cr:RecordSet",
        "@id": file.set_id,
        "name": file.set_id,
        "description": f"The split {file.split} of the configuration {file.config}.",
        "field": list(_fields(features, file.set_id, f"{file.set_id}.parquet")),
    }


def _fields(features: Mapping[str, Any], set_id: str, file_id: str) -> Iterator[dict[str, Any]]:
    for name, feature in features.items():
        field = {"@type": "cr:Field", "@id": f"{set_id}/{quote(name, safe='')}", "name": name}
        source: dict[str, Any] = {"fileObject": {"@id": file_id}, "extract": {"column": name}}
        if isinstance(feature, Mapping):
            parts = [
                {
                    "@type": "cr:Field",
                    "@id": f"{field['@id']}/{quote(key, safe='')}",
                    "name": key,
                    "dataType": _TYPES[part.dtype],
                    "source": {**source, "transform": {"jsonPath": _json_path(key)}},
                }
                for key, part in feature.items()
            ]
            if parts:
                yield {**field, "subField": parts}
        elif isinstance(feature, datasets.Value):
            yield {**field, "dataType": _TYPES[feature.dtype], "source": source}
        else:
            # datasets 3 has a list of one item for what is a `List` later
            item = feature[0] if isinstance(feature, list) else feature.feature
            array = {"isArray": True, "arrayShape": "-1"}
            yield {**field, "dataType": _TYPES[item.dtype], **array, "source": source}


def _json_path(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z_]\w*", key) else f'"{key}"'
