"""Conversion of a student of Bergamot to a folder with safetensors and SentencePiece."""

from __future__ import annotations

from pathlib import Path

from cc_hf.folders import new_folder
from cc_hf.models.finite_weights import check_finite_weights
from cc_hf.models.location import locate
from cc_hf.models.weights import reported_loading
from cc_hf.models.weights_identity import conversion_settings
from cc_hf.plugins.bergamot.files import files_of, student_identity
from cc_hf.plugins.bergamot.published import LICENCE
from cc_hf.plugins.bergamot.student import load_student

__all__ = ["convert_student"]

_CARD = """---
{languages}license: {licence}
library_name: transformers
pipeline_tag: translation
---
# {name}

A student of Bergamot (Firefox Translations), converted by cc_hf from `{model}`. Weights that were
stored in int8 are stored in float32, with the same values; a shortlist is not included. The files
that Mozilla publishes are under {licence}; the conversion changes nothing about that.

```python
import cc_hf

evaluator = cc_hf.load_evaluator("FOLDER")
```

Documentation and source: https://github.com/mozilla/translations
"""


def convert_student(source: str | Path, *, output: str | Path) -> Path:
    """Write a student as a folder that `cc_hf.load_evaluator` and transformers load."""
    with new_folder(output) as built:
        folder, _ = locate(str(source))
        files = files_of(folder, source)
        model, tokenizer = load_student(files)
        check_finite_weights(model, str(source))
        named = [code for code in files.languages if code]
        card = _CARD.format(
            languages="".join(["language:\n", *(f"- {code}\n" for code in named)]) if named else "",
            licence=LICENCE.lower(),
            name="-".join([*named, "student"]),
            model=files.model.name,
        )
        with reported_loading(str(source)):  # without progress bars
            model.save_pretrained(built)
        tokenizer.save_pretrained(built)
        model.config.update(conversion_settings(student_identity(files), built))
        model.config.save_pretrained(built)
        (built / "README.md").write_text(card, encoding="utf-8", newline="\n")
    return Path(output)
