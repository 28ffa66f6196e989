"""Who has to leave so that somebody more important can start (KEP-5710): decided whole, before anybody is touched.

`evaluator` (what becomes of an item's candidate over time) asks `dry_run` for the best candidate; that works on a `context`,
the snapshot. `node_candidates` chooses nodes to clear and `reprieve` gives back whoever need not leave.
"""
