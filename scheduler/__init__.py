"""The embedded gang scheduler: a pure core (cache, plugins, algorithm, queue) and a thin shell that reads and writes."""
