"""How a placed pod gets onto its node: assumed, its volumes given, bound, and what became of that."""
