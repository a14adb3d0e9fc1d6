"""Omissions and additions: what people say of those that were found, and data to measure with
(Vamvas & Sennrich 2022).
"""
