"""Tables, pages and plots of results: the only place where values in [0, 1] become percentages."""
