"""Jobs as the stock Job controller runs them: pure decisions, one thin file that carries them out."""
