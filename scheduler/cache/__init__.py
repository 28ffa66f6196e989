"""What the scheduler knows of the cluster, kept current by events; nothing is rebuilt per cycle.

`cluster` takes the events and ties the tables together: `nodes` holds amounts in arrays `[resource, node]` by node slot,
`node_columns` is how derived tables follow them; `pod_group_state` has the pods of one group, `entities` all groups and lone pods,
`assigned_pods` all bound pods in columns, `occupancy` who takes room where. `nominator` holds nominations, `reservations` room
that is kept.

What pods ask for is parsed once per distinct bytes: `demand`, `node_rules`, `pod_rules` (terms about other pods), `pod_volumes`,
all together in `pod_signature`. `topology_index` counts running pods for rules about other pods, by `label_classes`. `storage`,
`volume_records` and `volume_topology` are about volumes. Nothing here imports the layers above; they keep what they derive from
a cluster in `ClusterState.derived`.
"""
