"""Why something waits, what would help, whether something would fit: answered by deciding on a copy of the cluster."""
