"""Which nodes the members of one item go to, on one snapshot of the cluster.

The way of a decision: `muster` parts the members by signature and by what rules about other pods tell apart; `domains` tries
every value of a topology label; `attempts` tries one way of placing after the other; `trial` is the snapshot with the pods that
were placed so far, and `room` what others leave to the item.

Ways to place: `identical` spreads equal pods exactly in closed form, `heterogeneous` and `heterogeneous_in_order` place members
that nearly all differ, `pod_by_pod` those whose nodes matter to each other. `upper_bound` says what no way can exceed.

Tables: `fits` has for each signature how many pods each node can take and how good it is, with `static_scores` and `top_nodes`;
`overlay` has other amounts than the node table. Rules about other pods: `term_matching`, `compile_relations`, `relations`, and
`topology_state` for one trial; volumes: `volume_claims` and `volume_binder`.
"""
