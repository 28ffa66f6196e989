"""Who has to leave so that somebody more important can start (KEP-5710): decided whole, before anybody is touched.

The way of an item that found no place: `manager` (for the loop), `evaluator` (what becomes of its candidate over time),
`dry_run` (the best candidate on a snapshot, the `context`; `domain_dry_run` has those of one domain, of `victim_choices`;
`node_candidates` chooses nodes to clear, `reprieve` who can stay),
`executor` (the writes; groups of Jobs are asked to leave by `suspensions`). Which victim leaves before which is in `victims`.
"""
