"""What the documents say about the API is what the tests found."""

import re

from tests.conformance.api_cases import CHANGED, CREATED
from verify.clusters.hollow import REPOSITORY


def test_every_difference_between_the_two_apis_is_listed_with_its_reason() -> None:
    text = (REPOSITORY / "docs" / "api-differences.md").read_text()
    for case in (*CREATED, *CHANGED):
        if case.own_words is not None:
            words = re.sub(r"\b\d{2,3}( bytes)?$", "N", case.own_words)
            assert words in text, f"{case}: {case.own_words}"
