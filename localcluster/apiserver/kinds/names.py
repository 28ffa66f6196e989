"""What names, labels and annotations may look like, in the real server's words.

Pure. Each function gives the complaint (or complaints) about one string, empty when it is fine.
"""

import re
from collections.abc import Callable

_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_LABEL_1035 = r"[a-z]([-a-z0-9]*[a-z0-9])?"
_NAME_PART = r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_LABEL_VALUE = rf"({_NAME_PART})?"
_SHOWN_LABEL_VALUE = r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?"

_is_label = re.compile(_LABEL).fullmatch
_is_subdomain = re.compile(_SUBDOMAIN).fullmatch
_is_label_1035 = re.compile(_LABEL_1035).fullmatch
_is_name_part = re.compile(_NAME_PART).fullmatch
_is_label_value = re.compile(_LABEL_VALUE).fullmatch

LONGEST_SUBDOMAIN = 253
LONGEST_LABEL = 63

NameCheck = Callable[[str], list[str]]


def _examples(pattern: str, *texts: str) -> str:
    """The part of a complaint that shows what would do."""
    shown = ",  or ".join(f"'{text}'" for text in texts)
    return f"(e.g. {shown}, regex used for validation is '{pattern}')"


def subdomain_problems(name: str) -> list[str]:
    """For names of most objects: RFC 1123 subdomains."""
    problems = _length(name, LONGEST_SUBDOMAIN)
    if not _is_subdomain(name):
        problems.append(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must "
            f"start and end with an alphanumeric character {_examples(_SUBDOMAIN, 'example.com')}"
        )
    return problems


def label_problems(name: str) -> list[str]:
    """For names of namespaces and containers: RFC 1123 labels."""
    problems = _length(name, LONGEST_LABEL)
    if not _is_label(name):
        problems.append(
            "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and "
            f"end with an alphanumeric character {_examples(_LABEL, 'my-name', '123-abc')}"
        )
    return problems


def label_1035_problems(name: str) -> list[str]:
    """For names of services: RFC 1035 labels."""
    problems = _length(name, LONGEST_LABEL)
    if not _is_label_1035(name):
        problems.append(
            "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic "
            "character, and end with an alphanumeric character " + _examples(_LABEL_1035, "my-name", "abc-123")
        )
    return problems


def path_segment_problems(name: str) -> list[str]:
    """For names of roles: anything that is one segment of a path."""
    if name in {".", ".."}:
        return [f"may not be '{name}'"]
    return [f"may not contain '{each}'" for each in ("/", "%") if each in name]


def qualified_name_problems(key: str) -> list[str]:
    """For keys of labels, annotations, resources: a name, with a prefix and a slash before it or not."""
    prefix, slash, name = key.rpartition("/")
    problems: list[str] = []
    if prefix.count("/"):
        text = (
            "a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
            f"alphanumeric character {_examples(_NAME_PART, 'MyName', 'my.name', '123-abc')} with an optional DNS "
            "subdomain prefix and '/' (e.g. 'example.com/MyName')"
        )
        return [text]
    if slash and not prefix:
        problems.append("prefix part must be non-empty")
    elif slash:
        problems += [f"prefix part {each}" for each in subdomain_problems(prefix)]
    if not name:
        problems.append("name part must be non-empty")
    elif len(name) > LONGEST_LABEL:
        problems.append(f"name part must be no more than {LONGEST_LABEL} characters")
    if not _is_name_part(name):
        problems.append(
            "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
            f"alphanumeric character {_examples(_NAME_PART, 'MyName', 'my.name', '123-abc')}"
        )
    return problems


def label_value_problem(value: str) -> str:
    """For values of labels."""
    if len(value) > LONGEST_LABEL:
        return f"must be no more than {LONGEST_LABEL} bytes"
    if not _is_label_value(value):
        return (
            "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must "
            f"start and end with an alphanumeric character "
            f"{_examples(_SHOWN_LABEL_VALUE, 'MyValue', 'my_value', '12345')}"
        )
    return ""


def generated(check: NameCheck, prefix: str) -> list[str]:
    """The complaints about a `generateName`, which may end with a dash."""
    return check(prefix[:-1] + "a" if len(prefix) > 1 and prefix.endswith("-") else prefix)


def _length(name: str, longest: int) -> list[str]:
    return [f"must be no more than {longest} characters"] if len(name) > longest else []
