"""The spelling of users' URLs and of redirects is checked before any DNS lookup."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from yarl import URL

from svc.chat.outbound_http import address_checks
from svc.chat.outbound_http.address_checks import FetchError, is_public, redirect_target, target
from tests.kit.time_complexity import grows_with_its_size

# Each of these URLs is rejected before any lookup.
REFUSED = {
    "loopback": "http://127.0.0.1/a.png",
    "loopback, not the first": "http://127.8.9.10/",
    "decimal": "http://2130706433/",
    "hexadecimal": "http://0x7f000001/",
    "hexadecimal, upper case": "http://0X7F000001/",
    "hexadecimal in parts": "http://0x7f.0x0.0x0.0x1/",
    "hexadecimal and short": "http://0x7f.1/",
    "an empty hexadecimal number": "http://127.0.0.0x/",
    "octal": "http://0177.0.0.1/",
    "octal in one": "http://017700000001/",
    "octal with many zeros": "http://00000000177.0.0.1/",
    "leading zeros": "http://127.000.000.001/",
    "short": "http://127.1/",
    "shorter": "http://127.0.1/",
    "zero": "http://0/",
    "zero, dotted": "http://0.0.0.0/",
    "mixed bases": "http://0x7f.0.0.01/",
    "more than 32 bits": "http://4294967297/",
    "parts beyond 255": "http://383.0.0.1/",
    "trailing dot": "http://127.0.0.1./",
    "decimal with a trailing dot": "http://2130706433./",
    "two trailing dots": "http://127.0.0.1../",
    "public, but decimal": "http://1572395042/",
    "public, but hexadecimal": "http://0x5db8d822/",
    "full-width digits": "http://１２７.０.０.１/",
    "circled digits": "http://①②⑦.⓪.⓪.①/",
    "ideographic full stops": "http://127。0。0。1/",
    "full-width in hexadecimal": "http://０x7f000001/",
    "percent-encoded digits": "http://%31%32%37.0.0.1/",
    "a percent-encoded dot": "http://127%2e0.0.1/",
    "a percent-encoded NUL": "http://127.0.0.1%00.example.com/",
    "private, class A": "http://10.0.0.1/",
    "private, class B": "http://172.16.0.1/",
    "private, class C": "http://192.168.1.1/",
    "a cloud's credentials": "http://169.254.169.254/latest/meta-data/",
    "a cloud's credentials, decimal": "http://2852039166/",
    "a cloud's credentials, hexadecimal": "http://0xa9fea9fe/",
    "a cloud's own services": "http://168.63.129.16/",
    "shared address space": "http://100.100.100.200/",
    "broadcast": "http://255.255.255.255/",
    "multicast": "http://224.0.0.1/",
    "IPv6 loopback": "http://[::1]/",
    "IPv6 loopback, written out": "http://[0:0:0:0:0:0:0:1]/",
    "IPv6 loopback, with zeros": "http://[0000:0000:0000:0000:0000:0000:0000:0001]/",
    "IPv6 unspecified": "http://[::]/",
    "mapped": "http://[::ffff:127.0.0.1]/",
    "mapped, hexadecimal": "http://[::ffff:7f00:1]/",
    "mapped, written out": "http://[0:0:0:0:0:ffff:127.0.0.1]/",
    "mapped and public": "http://[::ffff:93.184.216.34]/",
    "compatible": "http://[::127.0.0.1]/",
    "translated": "http://[::ffff:0:127.0.0.1]/",
    "NAT64 of loopback": "http://[64:ff9b::127.0.0.1]/",
    "NAT64 of a cloud's credentials": "http://[64:ff9b::a9fe:a9fe]/",
    "local NAT64": "http://[64:ff9b:1::1]/",
    "6to4 of loopback": "http://[2002:7f00:1::]/",
    "Teredo": "http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/",
    "link-local": "http://[fe80::1]/",
    "link-local with a zone": "http://[fe80::1%25eth0]/",
    "loopback with a zone": "http://[::1%25lo]/",
    "a zone that is not escaped": "http://[fe80::1%eth0]/",
    "public with a zone": "http://[2606:2800:220::1%251]/",
    "site-local": "http://[fec0::1]/",
    "unique local": "http://[fd00:ec2::254]/",
    "IPv6 multicast": "http://[ff02::1]/",
    "an address of the future": "http://[v1.fe80::a]/",
    "brackets around a name": "http://[localhost]/",
    "localhost": "http://localhost/",
    "localhost in capitals": "http://LOCALHOST/",
    "localhost with a trailing dot": "http://localhost./",
    "localhost in circled letters": "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/",
    "below localhost": "http://a.localhost/",
    "the local network": "http://printer.local/",
    "the local network with a trailing dot": "http://printer.local./",
    "an organisation's own": "http://metadata.google.internal/",
    "a home's own": "http://nas.home.arpa/",
    "a name and a password before it": "http://example.com@127.0.0.1/",
    "an encoded one": "http://example.com%40127.0.0.1/",
    "a password that looks like a host": "http://user:example.com@127.0.0.1/",
    "two of them": "http://a@example.com@127.0.0.1/",
    "a fragment in between": "http://127.0.0.1#@example.com/",
    "a query in between": "http://127.0.0.1?@example.com/",
    "a backslash before the at": "http://example.com\\@127.0.0.1/",
    "a backslash behind the host": "http://127.0.0.1\\.example.com/",
    "backslashes for slashes": "http:\\\\127.0.0.1\\",
    "no slashes": "http:127.0.0.1/",
    "one slash": "http:/127.0.0.1/",
    "three slashes": "http:///127.0.0.1/",
    "no scheme": "//127.0.0.1/",
    "a line break in the host": "http://127.0.\r\n0.1/",
    "a tab in the host": "http://local\thost/",
    "a space in the host": "http://127.0.0.1 .example.com/",
    "a soft hyphen in the host": "http://local\u00adhost/",
    "no host": "http:///a.png",
    "an empty label": "http://example..com/",
    "a label that is too long": f"http://{'a' * 64}.com/",
    "another scheme": "ftp://example.com/a.png",
    "a file": "file:///etc/passwd",
    "data": "data:image/png;base64,AAAA",
    "gopher": "gopher://127.0.0.1:6379/_FLUSHALL",
    "no port": "http://example.com:0/",
    "a port beyond the last": "http://example.com:65536/",
    "the port of mail": "http://example.com:25/",
    "the port of secure shell": "http://example.com:22/",
    "nothing": "",
}  # fmt: skip


@pytest.mark.parametrize("address", REFUSED.values(), ids=REFUSED)
def test_a_forbidden_url_is_blocked_in_every_spelling(address: str) -> None:
    with pytest.raises(FetchError) as refused:
        target(address)
    assert refused.value.code == "blocked"
    assert refused.value.message


TAKEN = {
    "http://example.com/": "http://example.com/",
    "https://EXAMPLE.com/A.png?b=C": "https://example.com/A.png?b=C",
    "http://93.184.216.34/a.png": "http://93.184.216.34/a.png",
    "http://[2606:2800:220:1::1]:8080/": "http://[2606:2800:220:1::1]:8080/",
    "http://[64:ff9b::93.184.216.34]/": "http://[64:ff9b::5db8:d822]/",
    "https://bücher.example/": "https://xn--bcher-kva.example/",
    "https://xn--bcher-kva.example/": "https://xn--bcher-kva.example/",
    "http://example.com./": "http://example.com./",
    "http://some_thing.example/": "http://some_thing.example/",
    "http://localhost.example.com/": "http://localhost.example.com/",
    "http://notlocal/": "http://notlocal/",
    "http://127.0.0.1.example.com/": "http://127.0.0.1.example.com/",
    "https://example.com:443/": "https://example.com/",
    "http://example.com:1024/": "http://example.com:1024/",
    "http://user:secret@example.com/": "http://example.com/",
    "http://127.0.0.1@example.com/": "http://example.com/",
    "http://example.com/#@127.0.0.1": "http://example.com/",
    "http://example.com/a b": "http://example.com/a%20b",
    "http://example.com/?a=%26%2B%3D": "http://example.com/?a=%26%2B%3D",
}


@pytest.mark.parametrize(("written", "requested"), TAKEN.items(), ids=TAKEN)
def test_a_request_has_no_credentials_and_no_fragment(written: str, requested: str) -> None:
    assert str(target(written)) == requested


REDIRECTED = {
    "/b.png": "https://example.com/b.png",
    "b.png": "https://example.com/a/b.png",
    "?b": "https://example.com/a/?b",
    "//other.example/b": "https://other.example/b",
    "http://other.example/b": "http://other.example/b",
    "https://user:secret@other.example/b#c": "https://other.example/b",
}


@pytest.mark.parametrize(("location", "requested"), REDIRECTED.items(), ids=REDIRECTED)
def test_a_redirect_is_resolved_relative_to_the_page_that_sent_it(location: str, requested: str) -> None:
    assert str(redirect_target(URL("https://example.com/a/"), location)) == requested


@pytest.mark.parametrize("address", REFUSED.values(), ids=REFUSED)
def test_a_redirect_is_checked_like_the_first_url(address: str) -> None:
    if "://" in address and not address.startswith("http:///"):
        with pytest.raises(FetchError) as refused:
            redirect_target(URL("https://example.com/a/"), address)
        assert refused.value.code == "blocked"


@given(st.ip_addresses())
def test_an_ip_address_in_a_url_is_accepted_only_if_it_is_public(address: object) -> None:
    host = f"[{address}]" if ":" in str(address) else str(address)
    try:
        taken = target(f"http://{host}/")
    except FetchError:
        assert not is_public(str(address))
    else:
        assert is_public(taken.host or "")


@given(st.text(max_size=60), st.booleans())
def test_any_url_is_either_accepted_or_rejected(text: str, prefixed: bool) -> None:
    try:
        taken = target(f"http://{text}" if prefixed else text)
    except FetchError:
        return
    assert taken.scheme in ("http", "https")
    assert taken.user is None
    assert taken.password is None


@pytest.mark.parametrize("before", ["http://", "http:/\t/", "//", "http://user@"])
def test_the_cost_of_checking_the_worst_host_names_is_linear_in_their_length(before: str) -> None:
    # IDNA sorts combining marks. 41 of these URLs once blocked the event loop for 0.7 s.
    def read(size: int) -> None:
        with pytest.raises(FetchError):
            redirect_target(
                URL("http://example.org"), before + "a" + "\u0301" * size + "\u0316" * size + ".org/"
            )

    assert grows_with_its_size(read, 8_000)


def test_a_host_name_that_normalisation_makes_too_long_is_rejected_before_parsing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(address_checks, "URL")
    with pytest.raises(FetchError):
        target("http://" + "\ufdfa" * 250 + "/")
