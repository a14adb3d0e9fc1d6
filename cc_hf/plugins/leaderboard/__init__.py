"""A page in the browser: a table of results, and forms to judge a visitor's own translations."""
