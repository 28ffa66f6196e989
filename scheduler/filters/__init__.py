"""Which nodes can take a pod: the filters of kube-scheduler's default profile, one file each, same names, same messages.

Two kinds. *Static* filters depend only on what nodes say about themselves (`mask.STATIC_FILTERS`, in the order of the
default profile); their verdict is kept per set of rules and follows node changes. *Dynamic* ones depend on the pods that
run (`node_ports`, `resources_fit`). `NodeName` has no file: a pod that names its node is bound in our eyes and never
reaches a cycle. A constraint without a filter here is refused by `state.rules`, never ignored.
"""
