from cc_hf.statistics.separation import placements


def test_placements_of_values_that_differ_by_rounding_alone_are_ties() -> None:
    assert placements([0.1 + 0.2, 0.5], [0.3]).tolist() == [0.5, 1]
    # a difference that is 0 but for rounding is no smaller than 0
    assert placements([0.3 - (0.1 + 0.2), 0.5], [0.0]).tolist() == [0.5, 1]
