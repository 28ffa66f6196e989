"""How the scheduler says what it does and why: events, conditions to be written, metrics. Nothing here decides anything."""
