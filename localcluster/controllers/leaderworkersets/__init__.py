"""LeaderWorkerSets as the LWS controller (v0.9) runs them: groups of a leader and its workers, and the webhooks they need."""
