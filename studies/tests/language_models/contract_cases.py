"""Cases of the study for the contracts of all studies."""

from tests.helpers.contract_cases import ContractCases

CASES = ContractCases(tables=(("published",),), reproduced={"ask wino_x": "test_published.py"})
