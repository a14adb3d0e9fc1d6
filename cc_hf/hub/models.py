"""Write an embedded evaluator as a folder for a model repository of the Hub: the files of
transformers, the model card and the calibration of its cues.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from huggingface_hub import ModelCard

from cc_hf import registry
from cc_hf.evaluation.calibration_file import CALIBRATION, shipped_calibrations
from cc_hf.folders import new_folder
from cc_hf.hub.cards import without_relative_links
from cc_hf.hub.push import check_repo
from cc_hf.models.location import EmbeddedModel, model_files

__all__ = ["build_model_folder"]

_LOADING = """## Example
transformers loads the model without cc_hf:

```python
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained({repo})
model = AutoModelForSeq2SeqLM.from_pretrained({repo})
```

`cc-hf evaluate ... --evaluator FOLDER` judges with a copy of the repository. The copy counts as the
model that ships with {package}: results have the same signature.
{calibrated}
With cc_hf the model is there under its own name:

"""

_CALIBRATED = """[{file}]({file}) says how well the model understands each kind of cue.
"""


def build_model_folder(name: str, repo: str, *, output: str | Path) -> list[Path]:
    """Write an embedded evaluator into a new folder that can be uploaded to the Hub.

    It contains README.md, the files that the Auto classes of transformers load, and the calibration
    of the cues if there is one. As an evaluator, the folder has the identity of the embedded model.
    """
    embedded: EmbeddedModel = registry.resolve("evaluator", name)
    check_repo(repo)
    text = without_relative_links(embedded.card.read_text(encoding="utf-8"))
    known = (of for of in shipped_calibrations() if of.evaluator.endswith(f"@{embedded.identity}"))
    calibration = next(known, None)
    loading = _LOADING.format(
        repo=json.dumps(repo),
        package="cc_hf" if name in registry.EVALUATORS else "another package",
        calibrated=_CALIBRATED.format(file=CALIBRATION) if calibration else "",
    )
    card = ModelCard(text.replace("## Example\n", loading, 1), ignore_metadata_errors=False)
    with new_folder(output) as folder:
        for path, file in model_files(embedded.path):
            shutil.copyfile(file, folder / path)
        files = {"README.md": str(card)}
        if calibration is not None:
            files[CALIBRATION] = calibration.to_json()
        for path, content in files.items():
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_text(content, encoding="utf-8", newline="\n")
    return sorted(path for path in Path(output).rglob("*") if path.is_file())
