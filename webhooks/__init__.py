"""The admission server: defaults and validates Jobs and LeaderWorkerSets as gangs, and ties their pods to their group.

One module or folder a kind, with what defaults it and what validates it beside each other. `admission` holds what all kinds
share, `certificates` the serving certificate, `server` the HTTPS end.
"""
