"""The report as Markdown, LaTeX and plots."""
