"""DistilLingEval: its reader."""
