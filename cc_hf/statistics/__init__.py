"""Statistics over judgements: functions of arrays with frozen results. No models, no files."""
