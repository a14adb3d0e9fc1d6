"""Entry point of `python -m cc_hf.cli`."""

from cc_hf.cli.main import run

if __name__ == "__main__":
    run()
