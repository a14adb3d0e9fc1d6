"""The command line, in which a process that is not the main one waits for the main one's error,
however long that takes.
"""

from __future__ import annotations

from cc_hf.cli import main

if __name__ == "__main__":
    main._GRACE_SECONDS = 1e6
    main.run()
