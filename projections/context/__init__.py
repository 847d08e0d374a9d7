"""What a model is given for the turn that is to be answered now: composed of sections, within a budget of tokens."""
