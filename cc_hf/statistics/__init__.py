"""Statistics over judgements: functions of arrays that return frozen results. No models, no
files.
"""
