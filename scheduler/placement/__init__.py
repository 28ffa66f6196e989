"""Where the members of one item go, on one snapshot.

`fits` knows for each shape how many of its pods each node can take; `identical` spreads equal pods exactly; `trial` is a
snapshot with tentative pods on it; `mixed` places several shapes; `domains` keeps a group inside one topology domain.
"""
