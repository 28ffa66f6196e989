"""Who may see the page."""

import pytest

from views.page.guard import HEADERS, refusal

HOST = "127.0.0.1:8000"


def asked(method: str = "GET", *, cookie: str = "t", given: str = "", **headers: str) -> int:
    named = {"Host": HOST, **{name.replace("_", "-"): value for name, value in headers.items()}}
    refused = refusal(method, named, cookie=cookie, given=given, token="t")
    return refused[0] if refused else 200


@pytest.mark.parametrize("host", [HOST, "localhost:8000", "localhost", "[::1]:8000", "127.0.0.1:9999"])
def test_loopback_may_go_by_any_of_its_names_and_through_any_port(host: str) -> None:
    assert asked(Host=host) == 200


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "localhost.evil", ""])
def test_another_name_that_leads_here_is_refused(host: str) -> None:
    assert asked(Host=host) == 421


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:9", "https://127.0.0.1:8000"])
def test_another_origin_is_refused_even_with_the_token(origin: str) -> None:
    assert asked(Origin=origin) == 403


def test_the_pages_own_origin_is_not_refused() -> None:
    assert asked(Origin=f"http://{HOST}", Sec_Fetch_Site="same-origin") == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_what_another_site_has_the_browser_ask_is_refused(site: str) -> None:
    assert asked(Sec_Fetch_Site=site) == 403


@pytest.mark.parametrize(("cookie", "given", "status"), [("", "", 401), ("x", "", 401), ("", "x", 401), ("", "t", 200)])
def test_nobody_sees_it_without_the_token(cookie: str, given: str, status: int) -> None:
    assert asked(cookie=cookie, given=given) == status


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD"])
def test_it_can_only_be_read(method: str) -> None:
    assert asked(method) == 405


def test_nothing_is_loaded_from_elsewhere_and_nobody_may_frame_it() -> None:
    policy = dict(part.strip().split(" ", 1) for part in HEADERS["Content-Security-Policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["frame-ancestors"] == "'none'"
    assert {policy[name] for name in ("script-src", "style-src", "connect-src", "img-src")} == {"'self'"}
