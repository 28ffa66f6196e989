"""The upstream names of a Job's Workload and PodGroup, computed a second time from their description (KEP-5547).

Imports nothing of the product: it is the judge of its names. The hash is FNV-1a with 32 bits, written in decimal and
spelled in an alphabet without vowels; names are cut to 253 characters so that the hash always stays.
"""

ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
LONGEST = 253
LONGEST_LABEL = 63


def fnv1a(data: bytes) -> int:
    """FNV-1a, 32 bits."""
    value = 0x811C9DC5
    for byte in data:
        value = ((value ^ byte) * 0x01000193) % 2**32
    return value


def spelled(number: int) -> str:
    """A number in decimal, each digit's character replaced by a letter of the alphabet."""
    return "".join(ALPHABET[ord(character) % len(ALPHABET)] for character in str(number))


def pod_group_name(workload: str, template: str) -> str:
    """The name of the PodGroup made from this template of this Workload."""
    code = spelled(fnv1a(workload.encode() + template.encode()))
    room = LONGEST - len(code) - 2
    if len(workload) + len(template) > room:
        half = room // 2
        if len(workload) <= half:
            template = template[: room - len(workload)]
        elif len(template) <= half:
            workload = workload[: room - len(template)]
        else:
            workload, template = workload[: room - half], template[:half]
    return f"{workload}-{template}-{code}"


def workload_name(job: str, uid: str) -> str:
    """The name of the Workload of a Job: what is hashed is Go's print of the UID with its type."""
    code = spelled(fnv1a(f"(types.UID){uid}".encode()))
    return f"{job[: LONGEST - len(code) - 1]}-{code}"


def template_name(job: str) -> str:
    """The name of the Workload's one template, where no shortening is needed."""
    return f"{job}-pgt-0"
