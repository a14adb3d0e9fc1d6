"""The cores of the metrics: pure functions of translations, references and scores.

One file per module in the top-level metrics folder.
"""
