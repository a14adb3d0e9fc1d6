"""GENDEROUS: its reader."""
