"""From an item and the state of the cluster to a decision. Applies nothing, waits for nothing, draws no lots.

The way of a decision: `schedule_pod_group` checks the group and ends with a `decision`; `partition` parts the members by
signature and by what rules about other pods tell apart; `topology_domains` tries every value of a topology label; `attempts`
tries one way of placing after the other; `snapshot` has the pods on it that were placed so far, and `free_after_nominations`
what others leave to the item.

Ways to place: `identical` spreads equal pods exactly in closed form, `heterogeneous` and `heterogeneous_in_order` place members
that nearly all differ, `pod_by_pod` those whose nodes matter to each other. `upper_bound` says what no way can exceed.

Tables: `node_fits` has for each signature how many pods each node can take and which nodes are best;
`overlay` has other amounts than the node table. Rules about other pods: `term_matching`, `compile_topology`,
`topology`, and `topology_state` for one snapshot; volumes: `volume_claims` and `volume_binder`. `future_pods` adds pods that a
group announces.
"""
