"""Who has to leave so that somebody more important can start (KEP-5710): decided whole, before anybody is touched. Pure.

`situation` is the snapshot, `selection` chooses nodes and units, `reprieve` gives back whoever need not leave, `search`
puts them together into a `Plan` or a refusal.
"""
