"""The helpers that most tests use, in one place to import them from."""

from tests.helpers.cases import cases
from tests.helpers.command_line import (
    cc_hf,
    invoke,
    overriding,
    printed_by,
    read_json,
    run_command,
)
from tests.helpers.judged import contrastive, judgement, result_of
from tests.helpers.lines import read_jsonl, write_jsonl, write_lines, write_text
from tests.helpers.narrowing import known, typed
from tests.helpers.printed_beside import cells_beside
from tests.helpers.refusals import fails, refuses
from tests.helpers.results import small_result, write_result
from tests.helpers.sheets import fill, read_table
from tests.helpers.terminal import printed

__all__ = [
    "cases",
    "cc_hf",
    "cells_beside",
    "contrastive",
    "fails",
    "fill",
    "invoke",
    "judgement",
    "known",
    "overriding",
    "printed",
    "printed_by",
    "read_json",
    "read_jsonl",
    "read_table",
    "refuses",
    "result_of",
    "run_command",
    "small_result",
    "typed",
    "write_jsonl",
    "write_lines",
    "write_result",
    "write_text",
]
