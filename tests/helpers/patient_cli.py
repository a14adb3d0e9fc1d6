"""The command line, where other processes wait for the error of the main one, however long it
takes.
"""

from cc_hf.cli import main

if __name__ == "__main__":
    main._GRACE_SECONDS = 1e6
    main.run()
