"""Tables and charts of many systems and seeds, by figures, BLEU and decoding time."""
