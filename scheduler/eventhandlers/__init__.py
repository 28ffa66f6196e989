"""What the scheduler follows of the cluster, and who hears of a change."""
