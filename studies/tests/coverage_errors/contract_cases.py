"""Cases of the study for the contracts of all studies."""

import json
from typing import Any

from cc_hf_studies.coverage_errors.human_evaluation import measured, read_judged_rows
from cc_hf_studies.coverage_errors.mqm import mqm_rows

from tests.helpers.contract_cases import ContractCases, KeptFile

__all__ = ["CASES", "LABELLED", "PREDICTED"]

PREDICTED: dict[str, Any] = {
    **{"split": "test", "system": "A", "seg_id": 1, "source": "Go now.", "target": "Geh."},
    **{"coverage_error_type": "undertranslation", "predicted_overtranslation_spans": ""},
    "predicted_undertranslation_spans": "3-6",
    **{
        f"has_{side}_error_by_{who}": False
        for side in ("omission", "addition")
        for who in ("any_rater", "majority")
    },
}
LABELLED = {**PREDICTED, "data": "Geh.", "label": ["UT-important-information", "bad-translation"]}
_MARKS = """\
system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity
A\td\t1\t7\tr1\tBig dogs.\t<v>Hunde</v>.\tAccuracy/Omission\tMajor
"""

CASES = ContractCases(
    kept_files=(
        KeptFile(
            "predicted.jsonl",
            f"{json.dumps(PREDICTED)}\n",
            lambda path: read_judged_rows([path], annotated=False),
            lambda rows, path: measured(rows, {}, key="pair"),
        ),
        KeptFile(
            "annotator1.jsonl",
            f"{json.dumps(LABELLED)}\n",
            lambda path: read_judged_rows([path], annotated=True),
            lambda rows, path: measured(rows, {"a": rows}, key="pair_and_type"),
        ),
        KeptFile("mqm.tsv", _MARKS, mqm_rows),
    )
)
