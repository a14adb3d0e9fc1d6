"""The report in Markdown, LaTeX and as plots."""
