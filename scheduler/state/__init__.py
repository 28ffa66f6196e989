"""What the scheduler knows of the cluster, kept current by events; nothing is rebuilt per cycle.

`cluster` takes the events and ties the tables together: `nodes` holds amounts in arrays `[resource, node]` by node slot,
`changes` is how derived tables follow them; `members` has the pods of one group, `entities` all groups and lone pods, `residents`
all bound pods in columns, `occupancy` who takes room where. `claims` holds nominations, `reservations` room that is kept.

What pods ask for is parsed once per distinct bytes: `demand`, `rules`, `pod_rules` (terms about other pods), `pod_volumes`, all
together in `shapes`. `topology_index` counts running pods for rules about other pods, by `label_classes`. `volumes`,
`volume_records` and `volume_topology` are about storage. Nothing here imports the layers above; they keep what they derive from
a cluster in `ClusterState.derived`.
"""
