"""A campaign: a folder of submissions, judged in all pairs at once, and shown in one place."""
