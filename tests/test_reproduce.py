"""The commands of docs/reproduce.md run, here at small size or in a test that is named, and what
they write stands above the printed figures.
"""

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest

from cc_hf.data.loading import load_examples
from tests.helpers.contract_cases import study_cases
from tests.helpers.models import save_tiny_masked_lm
from tests.helpers.samples import lay_out_samples
from tests.helpers.usual import cells_beside, read_json, run_command, write_lines
from tests.test_documents import accepted_by_the_command_line

_ROOT = Path(__file__).parent.parent
_PAGE = (_ROOT / "docs/reproduce.md").read_text(encoding="utf-8")
_COMMANDS = list(dict.fromkeys(re.findall(r"^- (?:make|show): `cc-hf ([^`]+)`", _PAGE, re.M)))
#: Beginning of a command -> the file of tests that runs it; these hold what it writes against the
#: keys of the printed tables, too, where it writes a result.
_ELSEWHERE = {
    "ask sets": "tests/plugins/asking/test_command.py",
    "compare --by evaluator": "tests/unit/cli/test_result_commands.py",
    "compare --by rater": "tests/unit/cli/test_result_commands.py",
}
for _study, _cases in study_cases().items():
    _ELSEWHERE |= {
        words: f"studies/tests/{_study}/{file}" for words, file in _cases.reproduced.items()
    }
_SIX = [
    f"Der Assistent fragte {doctor}, ob sie Hilfe brauche."
    for doctor in ("die Ärztin", "die Doktorin", "den Arzt", "den Doktor", "das Team", "")
]


def _is_elsewhere(command: str) -> bool:
    return command.startswith(tuple(_ELSEWHERE))


@pytest.mark.parametrize("command", _COMMANDS)
def test_every_command_is_accepted_by_the_command_line(command: str) -> None:
    accepted_by_the_command_line(command)


@pytest.mark.parametrize("words", _ELSEWHERE)
def test_commands_that_run_elsewhere_are_on_the_page_and_in_their_test(words: str) -> None:
    assert [command for command in _COMMANDS if command.startswith(words)]
    assert (_ROOT / _ELSEWHERE[words]).is_file()


def test_printed_figures_are_shown_alone() -> None:
    alone = [c for c in _COMMANDS if re.fullmatch(r"study \w+ published --table \S+", c)]
    assert len(alone) > 10
    for command in alone:
        run_command(command)


def _write_files(folder: Path, shared: Path) -> None:
    """Write the files that the commands read, under the names of the page."""
    source = "The assistant asked the {} doctor if she needs any help."
    row = [source.format(cue) for cue in ("[female]", "[male]")]
    rows = ["source\tcorrect_sources\tincorrect_sources\tcategory\tsrc_lang\ttgt_lang"]
    rows += ["\t".join([source.replace(" {}", ""), *row, "female", "en", "de"])] * 6
    women = ["doctor\t40", "nurse\t90", "driver\t6", "cook\t38"]
    corpus = ["The doctor saw it because it was red.", "It is here."]
    counterfactual = load_examples("mt_geneval", "counterfactual_de", data_dir=shared / "upstream")
    texts = {
        "doctors6.tsv": rows,
        "doctors6.de.txt": _SIX,
        "simplegen.de.txt": [example.source for example in load_examples("simplegen", "en-de")],
        "translations.txt": corpus,
        "references.txt": corpus[::-1],
        "train.en": corpus,
        "train.de": ["Der Arzt sah es, weil es rot war.", "Es ist hier."],
        "train.fr": ["Le médecin le vit, car il était rouge.", "Il est ici."],
        "train.ru": ["Врач увидел его, потому что он был красным.", "Он здесь."],
        "counterfactual.txt": [example.extra["reference"] for example in counterfactual],
        "women.tsv": ["occupation\tpercent_women", *women],
    }
    for name, lines in texts.items():
        write_lines(folder / name, lines)


def test_other_commands_fill_rows_above(tmp_path: Path, shared: Path, tiny_marian: Path) -> None:
    _write_files(tmp_path, shared)
    samples = tmp_path / "samples"
    for config in ("mt_en_de.translations", "lm_en_de", "lm_en_de.english"):
        lay_out_samples("wino_x", config, samples, shared)
    lay_out_samples("contrawsd", "de-en", samples, shared)
    run_command("study distillation systems --table systems.tsv", cwd=tmp_path)
    masked = save_tiny_masked_lm(tmp_path / "masked", family="xlm-roberta")
    backwards = _backwards(tiny_marian, tmp_path / "backwards")
    ran = []
    for command in _COMMANDS:
        if _is_elsewhere(command) or " published" in command:
            continue
        line = command.replace("MODEL", str(backwards if "de-en" in command else tiny_marian))
        line = line.replace("FacebookAI/xlm-roberta-base", str(masked))
        folder = samples if re.search("wino_x|contrawsd", line) else shared / "upstream"
        run_command(*shlex.split(line), cwd=tmp_path, environment={"CC_HF_DATA_DIR": str(folder)})
        ran.append(command)
        study, output = _shown(command)
        if study:
            assert cells_beside(study, tmp_path / output), command
    assert len(ran) + sum(map(_is_elsewhere, _COMMANDS)) > 40
    assert read_json(tmp_path / "six.json")["n"] == 6


def _backwards(model: Path, folder: Path) -> Path:
    """Write a copy of an English-German model that takes itself for a German-English one."""
    shutil.copytree(model, folder)
    config = folder / "tokenizer_config.json"
    values = {**read_json(config), "source_lang": "de", "target_lang": "en"}
    write_lines(config, [json.dumps(values)])
    return folder


def _shown(command: str) -> tuple[str, str]:
    """Return the study whose printed figures stand beside what a command writes, and its file."""
    output = re.search(r"-o (\S+\.json)", command)
    block = _PAGE.partition(f"`cc-hf {command}`\n- show: `cc-hf study ")[2].partition("`")[0]
    study, _, rest = block.partition(" published ")
    return (study, output[1]) if output and output[1] in rest else ("", "")
