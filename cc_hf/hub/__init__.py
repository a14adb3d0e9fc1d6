"""The outside: what goes to, or comes from, the Hugging Face Hub."""
