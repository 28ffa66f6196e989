"""What the scheduler knows of the cluster, kept current by events; nothing is rebuilt per cycle.

`nodes` holds amounts in resource-major arrays, `demand`, `rules` and `shapes` what pods ask for (parsed once per distinct
bytes), `members` who belongs to which group, `cluster` ties them together.

`neighbours` counts pods for rules about other pods (`bonds`: affinity, `spreads`: topology spread), by `label class`.
"""
