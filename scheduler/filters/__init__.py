"""Which nodes can take a pod: the filters of kube-scheduler's default profile, one file each, same names, same messages.

Three kinds. *Static* filters depend only on what nodes say about themselves (`mask.STATIC_FILTERS`, in the order of the
default profile); their verdict is kept per set of rules and follows node changes. *Dynamic* ones depend on the pods that
run and on nothing else about them than what they take (`node_ports`, `resources_fit`). *Relations* (`pod_topology_spread`,
`inter_pod_affinity`) depend on which pods run where, members of the same gang included; `placement.company` asks them. Volume
filters (`volume_restrictions`, `node_volume_limits`, `volume_binding`, `volume_zone`) look at what the pods of a decision carry;
`placement.luggage` asks them.
`node_declared_features` is static and yet the last filter of the profile: of a node that others refuse too, theirs is the reason.
`NodeName` has no file: a pod that names its node is bound in our eyes and never reaches a cycle. A constraint without a filter
here is refused by `state.rules`, never ignored.
"""
