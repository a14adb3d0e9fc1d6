"""What several studies share: training from random weights, corpora in blocks, printed figures."""
