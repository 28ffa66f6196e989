"""The embedded gang scheduler: a pure core (state, filters, placement, queue, cycle) and a thin shell that reads and writes."""
