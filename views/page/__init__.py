"""The live page: gangs over time, a map of nodes, the queue, evictions. Served on loopback, reads only."""
