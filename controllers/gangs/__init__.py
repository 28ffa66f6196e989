"""What the controllers of Jobs and of LeaderWorkerSets share: the pass, its writes and steps, group objects of other schedulers."""
