"""The leaderboard as a folder of files that needs no server: rankings in bands, the sentences
behind them, translations for a woman and for a man, and what systems make of occupations.
"""
