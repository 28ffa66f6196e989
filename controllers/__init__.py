"""The operator: makes the Workload and the PodGroup of every gang, and opens the gate behind which its Job waits.

kopf is the frame (`controllers.frame`); every kind is followed by an informer. Every decision is a pure function of what is in the
stores (`controllers.jobs.plan`, `controllers.leaderworkersets.plan`), so a lost event costs time and never correctness.
"""
