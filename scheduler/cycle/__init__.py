"""One cycle: from an item and the state to a decision. Applies nothing, waits for nothing, draws no lots."""
