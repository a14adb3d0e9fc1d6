"""Cases of the study for the contracts of all studies."""

from __future__ import annotations

from tests.helpers.contract_cases import ContractCases

CASES = ContractCases()  # the printed table is wider than 80 columns, where its words wrap
