"""The operator: makes the Workload and the PodGroup of every gang, and opens the gate behind which its Job waits.

kopf watches Jobs and nothing else; Workloads and PodGroups come by our own informers. Every decision is a pure function of
what is in the stores (`controllers.jobs.plan`), so a lost event costs time and never correctness.
"""
