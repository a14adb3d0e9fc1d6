"""A page of results in the browser: what there is, the table, the judging of one's own
translations.
"""
