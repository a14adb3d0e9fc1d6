"""What models converted from fairseq need."""
