"""What is tried next, what waits and for what: items are groups and lone pods.

`scheduling_queue` says where an item goes, `active` which one is next, `unschedulable` when a refused one is tried again,
`queueing_hints` whether an event can have made room for it, `patience` when a group gives up or takes less than it would like.
"""
