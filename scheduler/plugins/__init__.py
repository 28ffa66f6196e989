"""The plugins of kube-scheduler's default profile, one file each, same names, same messages: where a pod can run, and where best.

Filters are of four kinds. *Static* ones depend only on what nodes say about themselves (`framework.STATIC_FILTERS`, in the
order of the default profile); their answers are kept per set of rules and follow node changes. *Dynamic* ones depend on what
the pods that run take (`node_ports`, `node_resources_fit`). *Topology* filters (`pod_topology_spread`, `inter_pod_affinity`)
depend on which pods run where, members of the same gang included; `algorithm.topology_state` asks them. *Volume* filters
(`volume_restrictions`, `node_volume_limits`, `volume_binding`, `volume_zone`) look at the volumes of the pods of a decision;
`algorithm.volume_binder` asks them. `node_declared_features` is static and yet the last filter of the profile: of a node that
others refuse too, theirs is the reason.

A score answers for many nodes at once, and those of amounts for the first, second, ... pod of one demand on each of them, because
placing a gang asks for all of these. Scores about nodes alone are put together in `framework`, those about other pods in
`algorithm.topology_state`: both are normalised among the nodes that can take the pod.

`NodeName` has no file: a pod that names its node is bound in our eyes and never reaches a cycle. A constraint without a filter
here is refused by `cache.node_rules`, never ignored.
"""
