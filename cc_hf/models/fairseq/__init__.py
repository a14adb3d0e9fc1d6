"""The tokenizer of models converted from fairseq."""
