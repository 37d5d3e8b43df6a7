"""Valid proofs with real signatures are accepted, and proofs that an attacker has modified are rejected."""

import hmac
import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from hypothesis import given
from hypothesis import strategies as st

from svc.chat.authentication import jwt_verification
from svc.chat.authentication.jwk import InvalidKey, IssuerKey, choose, device_key, issuer_keys
from tests.kit.device import Device, base64url, public_jwk

NOW = 1_800_000_000.0
ISSUER = "https://ca.example"
OIDC = "https://id.example/"
CHALLENGE = {"audience": "s1", "nonce": "n1"}
ORIGIN = "https://chat.example"

DEVICE, OTHER = Device(), Device()
RSA = rsa.generate_private_key(65537, 2048)
ES = ec.generate_private_key(ec.SECP256R1())
ED = ed25519.Ed25519PrivateKey.generate()
P384 = ec.generate_private_key(ec.SECP384R1())


def public_of(key: Any, algorithm: str) -> dict[str, Any]:
    members: dict[str, Any] = jwt.get_algorithm_by_name(algorithm).to_jwk(key.public_key(), as_dict=True)
    return members


KEYS = issuer_keys(
    {
        "keys": [
            public_of(RSA, "RS256") | {"kid": "rsa"},
            public_of(ES, "ES256") | {"kid": "es", "alg": "ES256", "use": "sig"},
            public_of(ED, "EdDSA") | {"kid": "ed"},
        ]
    }
)


def proven(
    certificate: str, assertion: str, *, id_token: str = "", now: float = NOW
) -> jwt_verification.Identity:
    """Verify a proof as the server does, but without checking the nonce and the address."""
    shown = jwt_verification.read(assertion)
    if id_token:
        credential = jwt_verification.id_token(jwt_verification.read(id_token), shown, OIDC, "community")
    else:
        credential = jwt_verification.certificate(jwt_verification.read(certificate), {ISSUER})
    key = choose(KEYS, credential.key_id, credential.algorithm) if credential.issuer else None
    identity = jwt_verification.verify(credential, key, now)
    assert jwt_verification.check_assertion(shown, credential, identity, "s1", now) == ORIGIN
    assert jwt_verification.nonce_of(shown) == "n1"
    return identity


def assertion(
    sub: str = DEVICE.thumbprint,
    header: dict[str, Any] | None = None,
    origin: object = ORIGIN,
    **changes: object,
) -> str:
    return DEVICE.assertion(CHALLENGE, origin, header, **{"sub": sub, **changes})


def issued(
    key: Any = ES,
    algorithm: str = "ES256",
    kid: str | None = "es",
    header: Mapping[str, Any] | None = None,
    **changes: object,
) -> str:
    """Return a certificate issued by the authority. Claims that are None are omitted."""
    claims = {"iss": ISSUER, "sub": "ada", "jwk": DEVICE.jwk, "iat": NOW, "exp": NOW + 60} | changes
    kept = {name: value for name, value in claims.items() if value is not None}
    headers = {**({"kid": kid} if kid else {}), **(header or {})}
    return jwt.PyJWS().encode(json.dumps(kept).encode(), key, algorithm=algorithm, headers=headers)


def id_token(**changes: object) -> str:
    claims = {"iss": OIDC, "aud": "community", "nonce": DEVICE.thumbprint, "jwk": None}
    return issued(RSA, "RS256", "rsa", **{**claims, **changes})  # type: ignore[arg-type]


def test_a_device_key_identifies_its_member_regardless_of_sub() -> None:
    certificate = DEVICE.certificate(sub="somebody else", iss="https://unknown.example")
    identity = proven(certificate, assertion("a third"))
    assert identity == jwt_verification.Identity("", DEVICE.thumbprint, DEVICE.thumbprint)
    assert identity.tier == "local"


@pytest.mark.parametrize(
    ("key", "algorithm", "kid"),
    [
        (ES, "ES256", "es"),
        (RSA, "RS256", "rsa"),
        (RSA, "PS256", "rsa"),
        (ED, "EdDSA", "ed"),
        (ES, "ES256", None),
    ],
)
def test_an_account_is_identified_by_issuer_and_sub(key: Any, algorithm: str, kid: str | None) -> None:
    identity = proven(issued(key, algorithm, kid), assertion("ada"))
    assert identity == jwt_verification.Identity(ISSUER, "ada", DEVICE.thumbprint)
    assert identity.tier == "account"


def test_an_id_token_identifies_an_account_on_the_named_device() -> None:
    for audience in ("community", ["community"], ["community", "more"]):
        identity = proven("", assertion("ada", {"jwk": DEVICE.jwk}), id_token=id_token(aud=audience))
        assert identity == jwt_verification.Identity(OIDC, "ada", DEVICE.thumbprint)


def unsigned(text: str) -> str:
    """Return a token with the same claims, alg "none" and no signature."""
    header = base64url(json.dumps({"alg": "none", "typ": "JWT"}).encode())
    return f"{header}.{text.split('.')[1]}."


def hmac_with_public_key(text: str) -> str:
    """Convert an ES256 token to an HS256 token with the public key as its secret (RFC 8725 section 2.1)."""
    header = base64url(json.dumps({"alg": "HS256", "kid": "es"}).encode())
    signed = f"{header}.{text.split('.')[1]}"
    secret = json.dumps(public_of(ES, "ES256")).encode()
    return f"{signed}.{base64url(hmac.digest(secret, signed.encode(), 'sha256'))}"


BASE64URL = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
NO_TIMES: tuple[object, ...] = (float("nan"), float("inf"), 10**400, "1", [])
NO_TOKENS = ("", ".", "..", "a.b.c", "é.é.é", "e30.e30", "W10.W10.", "\ud800")
PRIVATE = DEVICE.jwk | {"d": base64url(DEVICE.key.private_numbers().private_value.to_bytes(32, "big"))}


@pytest.mark.parametrize(
    ("certificate", "words"),
    [
        # Signatures.
        (unsigned(DEVICE.certificate()), "ES256"),
        (unsigned(issued()), "an issuer must sign"),
        (hmac_with_public_key(issued()), "an issuer must sign"),
        (OTHER.sign({"jwk": DEVICE.jwk}), "signature"),
        (issued(OTHER.key), "signature"),
        (issued(kid="rsa"), "does not publish"),
        (issued(kid="unknown"), "does not publish"),
        (DEVICE.certificate()[:-8] + "AAAAAAAA", "signature"),
        # An untrusted issuer cannot identify anyone, even with a valid signature.
        (issued(iss="https://elsewhere.example"), "signature"),
        (issued(iss=["https://ca.example"]), "signature"),
        # Keys that are embedded in the token.
        *(
            (DEVICE.sign({"jwk": DEVICE.jwk}, {name: value}), name)
            for name, value in [
                ("jwk", DEVICE.jwk),
                ("jku", "https://evil.example/keys"),
                ("x5c", ["AAAA"]),
                ("x5u", "https://evil.example/certificate"),
            ]
        ),
        (DEVICE.sign({"jwk": DEVICE.jwk}, {"crit": ["exp"]}), "crit|not a signed JWT"),
        (issued(header={"jku": "https://evil.example"}), "jku"),
        # The device's key.
        (DEVICE.certificate(jwk=PRIVATE), "private key"),
        (DEVICE.certificate(jwk=None), "P-256"),
        (DEVICE.certificate(jwk="key"), "P-256"),
        (DEVICE.certificate(jwk={}), "P-256"),
        (DEVICE.certificate(jwk=[DEVICE.jwk]), "P-256"),
        (DEVICE.certificate(jwk=public_jwk(P384)), "P-256"),
        (DEVICE.certificate(jwk=DEVICE.jwk | {"crv": "secp256k1"}), "P-256"),
        (DEVICE.certificate(jwk={"kty": "oct", "k": "AAAA"}), "P-256"),
        (DEVICE.certificate(jwk=public_of(RSA, "RS256")), "P-256"),
        (DEVICE.certificate(jwk=DEVICE.jwk | {"x": OTHER.jwk["x"]}), "not a point"),
        (DEVICE.certificate(jwk=DEVICE.jwk | {"x": "A" * 43, "y": "A" * 43}), "not a point"),
        (DEVICE.certificate(jwk=DEVICE.jwk | {"x": "A" * 1_000}), "43 characters"),
        (DEVICE.certificate(jwk=DEVICE.jwk | {"x": "é" * 43}), "base64url"),
        (DEVICE.certificate(jwk=DEVICE.jwk | {"y": 7}), "43 characters"),
        # Time.
        (DEVICE.certificate(exp=NOW - 61), "expired"),
        (DEVICE.certificate(iat=NOW + 61), "future"),
        (DEVICE.certificate(nbf=NOW + 61), "future"),
        *((issued(exp=moment), "not a time") for moment in NO_TIMES),
        (DEVICE.certificate(exp=True), "not a time"),
        (DEVICE.certificate(nbf=None), "not a time"),
        (issued(exp=NOW - 61), "expired"),
        (issued(exp=None), "no expiry time"),
        # A different identity.
        (issued(sub=None), "sub"),
        (issued(sub=""), "sub"),
        (issued(sub="x" * 256), "sub"),
        (issued(sub="a\0b"), "sub"),
        (issued(sub="a\nb"), "sub"),
        (issued(sub="bob"), "somebody else"),
        # Strings that are not tokens.
        *((text, "not a signed JWT") for text in NO_TOKENS),
        ("x" * 16_385, "at most"),
        (base64url(b"[" * 9_000) + ".e30.", "not a signed JWT"),
    ],
)  # fmt: skip
def test_a_hostile_certificate_proves_nothing(certificate: str, words: str) -> None:
    with pytest.raises(jwt_verification.InvalidProof, match=words):
        proven(certificate, assertion("ada"))


@pytest.mark.parametrize(
    ("shown", "words"),
    [
        (OTHER.assertion(CHALLENGE, ORIGIN), "signature"),
        (unsigned(assertion()), "ES256"),
        (assertion(aud="s2"), "another server"),
        (assertion(aud=["s1"]), "another server"),
        (assertion(origin=None), "requested"),
        (assertion(origin=["https://chat.example"]), "requested"),
        (assertion(exp=NOW - 61), "expired"),
        (assertion(iat=NOW + 61), "future"),
        (assertion(header={"jwk": DEVICE.jwk}), "jwk"),
        (assertion(header={"jku": "https://evil.example"}), "jku"),
        (DEVICE.certificate(), "another server"),
    ],
)
def test_a_hostile_assertion_proves_nothing(shown: str, words: str) -> None:
    with pytest.raises(jwt_verification.InvalidProof, match=words):
        proven(DEVICE.certificate(), shown)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"iss": "https://id.example"}, "another issuer"),
        ({"iss": None}, "another issuer"),
        ({"aud": "else"}, "audience"),
        ({"aud": []}, "audience"),
        ({"aud": None}, "audience"),
        ({"aud": {"community": 1}}, "audience"),
        ({"aud": ["community", "else"], "azp": "else"}, "another party"),
        # The token was issued for a different device or for none.
        ({"nonce": OTHER.thumbprint}, "thumbprint"),
        ({"nonce": "n1"}, "thumbprint"),
        ({"nonce": None}, "thumbprint"),
        ({"exp": NOW - 61}, "expired"),
        ({"exp": None}, "no expiry time"),
        ({"iat": NOW + 61}, "future"),
        ({"sub": None}, "sub"),
    ],
)
def test_a_hostile_id_token_proves_nothing(changes: dict[str, object], words: str) -> None:
    with pytest.raises(jwt_verification.InvalidProof, match=words):
        proven("", assertion("ada", {"jwk": DEVICE.jwk}), id_token=id_token(**changes))


@pytest.mark.parametrize("header", [None, {"jwk": OTHER.jwk}, {"jwk": PRIVATE}, {"jwk": "x"}])
def test_an_id_token_is_valid_only_with_the_device_it_was_issued_for(header: dict[str, Any] | None) -> None:
    with pytest.raises(jwt_verification.InvalidProof):
        proven("", assertion("ada", header), id_token=id_token())


def test_clocks_may_differ_by_up_to_a_minute() -> None:
    proven(issued(exp=NOW - 59, iat=NOW + 59), assertion("ada"))


def test_all_representations_of_a_key_have_the_same_thumbprint() -> None:
    # RFC 7638 ignores fields that are not part of the key. The last character encodes two unused bits.
    last = DEVICE.jwk["x"][-1]
    spare = DEVICE.jwk | {"x": DEVICE.jwk["x"][:-1] + BASE64URL[BASE64URL.index(last) + 1]}
    written = [DEVICE.jwk, DEVICE.jwk | {"kid": "mine", "alg": "ES256", "use": "sig"}, spare]
    assert {device_key(jwk).thumbprint for jwk in written} == {DEVICE.thumbprint}


def test_the_thumbprint_of_the_example_key_from_rfc_7517_is_correct() -> None:
    """Check the P-256 key from RFC 7517 appendix A.1. Its expected thumbprint was computed with openssl."""
    jwk = {
        "kty": "EC",
        "crv": "P-256",
        "x": "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
        "y": "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM",
    }
    assert device_key(jwk).thumbprint == "cn-I_WNMClehiVp51i_0VpOENW1upEerA8sEam5hn-s"


@pytest.mark.parametrize(
    "jwk",
    [
        {"kty": "RSA", "n": base64url(b"\x01" * 64), "e": "AQAB"},
        public_of(RSA, "RS256") | {"d": "AAAA"},
        public_of(RSA, "RS256") | {"use": "enc"},
        public_of(RSA, "RS256") | {"n": 7},
        {"kty": "oct", "k": "AAAA"},
        {"kty": ["RSA"]},
        {},
        jwt.get_algorithm_by_name("ES384").to_jwk(P384.public_key(), as_dict=True),
        "key",
    ],
)
def test_keys_that_cannot_verify_signatures_are_left_out_of_a_set(jwk: object) -> None:
    good = public_of(ES, "ES256") | {"kid": "es"}
    assert [key.key_id for key in issuer_keys({"keys": [jwk, good]})] == ["es"]


@pytest.mark.parametrize("document", [{}, {"keys": None}, {"keys": {"kty": "EC"}}, {"keys": "x"}])
def test_an_invalid_set_has_no_keys(document: dict[str, object]) -> None:
    assert issuer_keys(document) == []


def test_without_a_key_id_a_key_is_used_only_if_it_is_the_only_one_of_its_kind() -> None:
    def key(key_id: str) -> IssuerKey:
        return IssuerKey(key_id, frozenset({"ES256"}), ES.public_key())

    assert choose([key("a")], None, "ES256") == key("a")
    assert choose([key("a"), key("b")], None, "ES256") is None
    assert choose([key("a"), key("b")], "b", "ES256") == key("b")
    assert choose([key("a")], "a", "RS256") is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@given(JSON, st.dictionaries(st.sampled_from(["kty", "crv", "x", "y", "d"]), JSON))
def test_an_invalid_key_is_rejected_with_a_message(anything: object, almost: dict[str, object]) -> None:
    for jwk in (anything, almost, DEVICE.jwk | almost):
        with suppress(InvalidKey):
            device_key(jwk)
        issuer_keys({"keys": [jwk]})


@given(
    st.dictionaries(
        st.sampled_from(["jwk", "iss", "sub", "exp", "nbf", "iat", "nonce", "aud", "origin"]), JSON
    )
)
def test_malformed_claims_raise_only_the_expected_exception(claims: dict[str, object]) -> None:
    encoded = [base64url(json.dumps(part).encode()) for part in ({"alg": "ES256"}, claims)]
    text = ".".join([*encoded, base64url(bytes(64))])
    with pytest.raises(jwt_verification.InvalidProof):
        proven(text, text)
