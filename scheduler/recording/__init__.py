"""Everything a decision reads, as a value: taken from a cluster or a scheduler at work, written to a file, decided on again.

`inputs` is the value, `capture` takes it, `restore` makes a scheduler's core of it again that decides the same. Nothing here
talks to a cluster.
"""
