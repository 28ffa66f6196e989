"""Which of the nodes that can take a pod is best: the scores of kube-scheduler's default profile, one file each.

A score answers for many nodes at once, and for the first, second, ... pod of one demand on each of them, because placing a
gang asks for all of these. `total` is the registry of those that depend on amounts; `scoring` says what a profile weighs, and
`strategies` serves profiles that differ from the default one. Scores about nodes alone are put together in
`placement.wishes`, those about other pods in `placement.company`: both are normalised among the nodes that can take the pod.
"""
