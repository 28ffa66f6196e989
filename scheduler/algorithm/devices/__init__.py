"""Which devices claims can have on a node. Pure: what is allocated already is an argument."""
