"""What is tried next, what waits and for what: items are groups and lone pods.

`gate` says what an item must have before it is tried at all, `backoff` when a refused one is tried again, `wake` whether an
event can have made room for it, `patience` when a group gives up or takes less than it would like; `queue` keeps the order.
"""
