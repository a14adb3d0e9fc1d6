"""Run the command line as `python -m cc_hf`."""

from cc_hf.cli.main import run

if __name__ == "__main__":
    run()
