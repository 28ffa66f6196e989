"""The controller of LeaderWorkerSets: one Workload per set, one PodGroup per replica."""
