"""Metrics: pure functions of translations, references and scores.

Each module of the top-level metrics folder has one file here.
"""
