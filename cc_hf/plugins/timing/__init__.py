"""How long systems take to translate, measured in turns."""
