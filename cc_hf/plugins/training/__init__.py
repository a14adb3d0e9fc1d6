"""What a model understands while it is trained: a callback and figures for the Trainer."""
