"""Compiles LaTeX, where pdflatex is installed."""

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

_DOCUMENT = r"""\documentclass[a4paper,11pt]{article}
\usepackage[margin=2.5cm]{geometry}
\usepackage{booktabs,array,longtable}
\begin{document}
%s
\end{document}
"""


def without_latex() -> str:
    """Return why tests that compile are skipped, or "" if they run."""
    missing = "there is no pdflatex (apt-get install texlive-latex-recommended)"
    return "" if shutil.which("pdflatex") else missing


def overfull_boxes(folder: Path, texts: Sequence[str]) -> list[float]:
    """Compile the texts on A4 with margins of 2.5 cm, each on pages of its own.

    Returns:
        By how many points each overfull box is too large, in either direction.
    """
    folder.mkdir(exist_ok=True)
    (folder / "paper.tex").write_text(_DOCUMENT % "\n\\clearpage\n".join(texts), encoding="utf-8")
    for _ in range(2):  # the second time with the widths and labels of the first
        words = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
        done = subprocess.run(words, cwd=folder, capture_output=True, check=False, timeout=1200)
        log = (folder / "paper.log").read_text(encoding="latin-1")
        assert done.returncode == 0, re.findall(r"^!.*(?:\n.*){3}", log, re.MULTILINE)
    return [float(points) for points in re.findall(r"Overfull \\[hv]box \(([0-9.]+)pt too", log)]
