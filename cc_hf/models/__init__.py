"""Loading of models, whatever they are used for."""
