"""Folders of datasets in the shape of repositories on the Hub: Parquet, card, Croissant."""
