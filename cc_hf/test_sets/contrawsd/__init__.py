"""ContraWSD: its reader."""
