"""The controller of JobSets: one Workload per set, one PodGroup for all pods that start together, made anew with each restart."""
