"""Which of the nodes that can take a pod is best: the scores of kube-scheduler's default profile, one file each.

A score answers for many nodes at once, and for the first, second, ... pod of one demand on each of them, because placing a
gang asks for all of these. `total` is the registry: names and weights are those of the default profile.
"""
