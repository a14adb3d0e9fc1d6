"""How the embedded evaluator is made: German grammar, sentences of our own, Tatoeba pairs with
cues, training.
"""
