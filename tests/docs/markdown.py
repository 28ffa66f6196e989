"""As much of Markdown as the documents use: code blocks, headings, links."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

REPOSITORY: Final = Path(__file__).resolve().parents[2]
DOCS: Final = REPOSITORY / "docs"

_FENCE: Final = re.compile(r"^(```+)(\w*)\n(.*?)^\1$", re.MULTILINE | re.DOTALL)
_CODE: Final = re.compile(r"`[^`\n]*`")
_LINK: Final = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_HEADING: Final = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Block:
    """A block of code.

    Attributes:
        language: what stands behind its fence.
        text: what is in it.
    """

    language: str
    text: str


def documents() -> list[Path]:
    """All documents, the README first."""
    return [REPOSITORY / "README.md", *sorted(DOCS.rglob("*.md"))]


def blocks(text: str) -> list[Block]:
    """The blocks of code in their order."""
    return [Block(language, body) for _, language, body in _FENCE.findall(text)]


def links(text: str) -> list[str]:
    """Where links point to; those in code are none."""
    return _LINK.findall(_CODE.sub("", _FENCE.sub("", text)))


def anchors(text: str) -> set[str]:
    """The anchors of its headings, as Markdown's `toc` and code forges make them."""
    return {_slug(heading) for heading in _HEADING.findall(_FENCE.sub("", text))}


def commands(text: str) -> list[str]:
    """What a person types, one command each; a document in the shell (`<<END`) belongs to its command."""
    found: list[str] = []
    end = ""
    for block in blocks(text):
        if block.language != "console":
            continue
        for line in block.text.splitlines():
            if end:
                found[-1] += f"\n{line}"
                end = "" if line == end else end
            elif line.startswith("$ "):
                found.append(line.removeprefix("$ "))
                end = line.partition("<<")[2].strip()
    return found


def section(text: str, heading: str) -> str:
    """What stands below a heading, up to the next one of its level; "" when there is no such heading."""
    return text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def _slug(heading: str) -> str:
    words = re.sub(r"[^\w\s-]", "", heading.strip()).lower()
    return re.sub(r"[-\s]+", "-", words).strip("-")
