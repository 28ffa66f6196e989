"""The ranks of an item's members, those that run and those that wait."""

from scheduler.cache.cluster import ClusterState
from scheduler.cache.pod_group_state import PodGroupState
from scheduler.cache.ranks import NO_RANK, UNRANKED, Rank, rank_of


def rank_of_uid(state: ClusterState, uid: str) -> Rank:
    """The rank of a pod by its UID, `UNRANKED` for one that is not known."""
    pod = state.pod(uid)
    return rank_of(pod) if pod is not None else UNRANKED


def slots_by_rank(state: ClusterState, members: PodGroupState) -> dict[Rank, int]:
    """Node slots of members that are bound or assumed and have a rank."""
    placed = ((rank_of(pod), state.nodes.slot_of.get(node)) for pod, node in state.placed_members(members))
    return {rank: slot for rank, slot in placed if slot is not None and rank.number != NO_RANK}
