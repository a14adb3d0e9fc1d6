"""What other tests left behind is collected before files are forged: a finalizer that ran where
nesting has used up the recursion could not finish, and the test of that file would fail for it.
"""

import gc

import pytest


@pytest.fixture(autouse=True, scope="module")
def _nothing_of_other_tests_to_finalize() -> None:
    gc.collect()
    gc.freeze()
