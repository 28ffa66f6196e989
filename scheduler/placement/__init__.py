"""Where the members of one item go, on one snapshot.

`fits` knows for each shape how many of its pods each node can take; `identical` spreads equal pods exactly; `trial` is a
snapshot with tentative pods on it; `mixed` places several shapes; `domains` keeps a group inside one topology domain.

Rules about other pods: `muster` tells members apart as far as such rules do, `relations` compiles what they and running pods
mean to each other, `topology` is that on one trial; `packing` and `volumes` are the same for their volumes. Where no member's
place matters to another the above stays as it is; otherwise `placing pod by pod` places them one by one, and `placed` tries several ways.
`ceiling` bounds what any way can reach.

What makes decisions cheap on thousands of nodes, each with the same result as looking at everything: `top nodes` knows the best
nodes for a small gang, `kinds` judges nodes in equal states once, `assorted` and `turns` place members that nearly all differ,
`domain_sums` follows what each topology domain has, and `withheld` what is left beside room that is held for others.
"""
