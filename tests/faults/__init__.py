"""Every workflow under every class of faults: the end is that of an undisturbed run, and no promise is broken on the way.

Not a part of `make test`: `make faults` runs it, on the embedded cluster unless told otherwise.
"""
