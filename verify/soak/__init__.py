"""Tutti for an hour or more under changes and faults by chance, judged by the auditor all the time: `python -m verify.soak`.

`changes` and `faults` draw what happens from a seed, `cluster` is where (one of `verify.clusters`), `users` and `disturber` carry
it out, `judge` and `memory` look on, `run` is the order of it all, `outcome` is what is printed.
"""
