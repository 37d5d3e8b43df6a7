"""Each finding of `svc doctor` has a verdict, and each problem that can be fixed comes with advice."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from yarl import URL

from svc.base.machine import Machine
from svc.base.sandbox_protocol import Layer
from svc.tools.doctor import cluster, data_folder, decoders, machine, network, public_address, services, turn
from svc.tools.doctor.check_result import Finding, Verdict

GOOD = Machine(clock_kept=True, files=65_536, buffers={"net.core.wmem_max": 4 << 20})
SMALL = {"net.core.wmem_max": 212_992}
OK, NOTICE, PROBLEM = Verdict.OK, Verdict.NOTICE, Verdict.PROBLEM
NOW = datetime(2026, 1, 1, tzinfo=UTC)
PUBLIC, PRIVATE, OTHER = "8.8.4.4", "192.168.1.5", "9.9.9.9"


def way(
    url: str, hops: int, forwarded: list[str], host: str = "chat.example.org", secure: bool = False
) -> public_address.ProxyRoute:
    return public_address.ProxyRoute(
        URL(url), hops, {"host": host, "forwarded_for": forwarded, "secure": secure}
    )


def cluster_of(**states: str) -> dict[str, object]:
    """Return the status of a cluster in which node `a` holds the lease."""
    nodes = [
        {"node": name, "state": state, "lag": 0, "url": f"http://{name}:5000"}
        for name, state in states.items()
    ]
    return {"owner": "a", "epoch": 3, "nodes": nodes, "replicas": dict.fromkeys("xyz", True)}


def relayed(*names: str, host: str = "") -> dict[str, object]:
    """Return the status of a cluster that has relays, by default each on its own host."""
    relays = [{"relay": name, "url": f"http://{host or name}:5000"} for name in names]
    return cluster_of(a="owner", b="follower") | {"relays": relays}


def placed(**places: object) -> list[Finding]:
    """Return the findings for a cluster whose NATS servers, SFUs and store are on the given hosts."""
    return cluster.diagnose(cluster_of(a="owner", b="follower") | {"places": places})


ON_ONE_MACHINE = [
    {"node": name, "state": state, "lag": 0, "url": f"http://10.0.0.1:{port}"}
    for name, state, port in (("a", "owner", 5000), ("b", "follower", 5001))
]
HTTPS, LOCAL = "https://chat.example.org", "http://localhost:5000"
TURNS = turn.Address.of("turns:turn.example.org:443?transport=tcp")
CASES: list[tuple[Finding, Verdict, str]] = [
    (decoders.confinement(set(Layer))[-1], OK, ""),
    # as in a container
    (decoders.confinement({Layer.LANDLOCK, Layer.SECCOMP})[0], OK, ""),
    (decoders.confinement({Layer.LANDLOCK, Layer.SECCOMP})[-1], OK, ""),
    (decoders.confinement({Layer.NAMESPACES, Layer.ROOT})[1], NOTICE, "lsm="),
    (decoders.confinement({Layer.NAMESPACES, Layer.ROOT})[2], NOTICE, "x86-64"),
    (decoders.confinement({Layer.SECCOMP})[1], NOTICE, "RestrictNamespaces="),
    (decoders.confinement({Layer.SECCOMP})[2], NOTICE, "pivot_root"),
    (decoders.confinement({Layer.DESCRIPTORS})[0], PROBLEM, "Linux 5.13"),
    (cluster.diagnose(cluster_of(a="owner", b="follower"))[0], OK, ""),
    (cluster.diagnose(cluster_of(a="owner", b="follower"))[1], OK, ""),
    (cluster.diagnose(cluster_of(a="silent", b="follower"))[0], PROBLEM, "quorum"),
    (cluster.diagnose(cluster_of(a="owner", b="silent"))[1], PROBLEM, "another machine"),
    (cluster.diagnose(cluster_of(a="owner", b="silent"))[2], NOTICE, "log"),
    (cluster.diagnose(cluster_of(a="owner", b="follower"))[2], OK, ""),
    (cluster.diagnose(cluster_of(a="owner") | {"replicas": {"x": True, "y": False}})[2], PROBLEM, "NATS"),
    (cluster.diagnose(cluster_of(a="owner") | {"replicas": {"x": True}})[2], PROBLEM, "three machines"),
    (cluster.diagnose(relayed("east"))[-1], NOTICE, "another one"),
    (cluster.diagnose(relayed("east", "west"))[-1], OK, ""),
    (
        cluster.diagnose(relayed("east", "west") | {"nodes": ON_ONE_MACHINE})[-2],
        NOTICE,
        "move them to different ones",
    ),
    (placed(nats=["x", "y", "z"])[-1], OK, ""),
    (placed(nats=["x", "x", "z"])[-1], NOTICE, "its failure could stop all writes"),
    (placed(sfus=["m"])[-1], NOTICE, "Add another one to SFU_WS_HOST"),
    (placed(sfus=["m", "m"])[-1], NOTICE, "move them to different ones"),
    (placed(sfus=["m", "n"])[-1], OK, ""),
    (placed(store="s3.example.org")[-1], OK, ""),
    (placed(store="b")[-1], NOTICE, "has no copy elsewhere"),
    (placed(store="/uploads", is_folder=True)[-1], NOTICE, "Use S3"),
    (cluster.diagnose(relayed("east", "west", host="a"))[-1], NOTICE, "move them to different ones"),
    (machine.findings(GOOD)[0], OK, ""),
    (machine.findings(replace(GOOD, clock_kept=False))[0], NOTICE, "timedatectl"),
    (machine.findings(replace(GOOD, clock_kept=None))[0], OK, ""),
    (machine.findings(GOOD)[1], OK, ""),
    (machine.findings(replace(GOOD, files=1024))[1], NOTICE, "ulimit"),
    (machine.findings(GOOD)[2], OK, ""),
    (machine.findings(replace(GOOD, buffers=SMALL))[2], NOTICE, "sysctl -w net.core.wmem_max="),
    (data_folder.room(100_000_000), PROBLEM, "Free up space"),
    (data_folder.room(1_000_000_000), NOTICE, "Keep an eye on it"),
    (data_folder.room(100_000_000_000), OK, ""),
    (data_folder.disk("ext4"), OK, ""),
    (data_folder.disk("nfs4"), PROBLEM, "local disk"),
    (network.addresses([PUBLIC], PUBLIC, 3478, queried=True), OK, ""),
    (network.addresses([PRIVATE], PUBLIC, 3478, queried=True), NOTICE, "Forward UDP port 3478"),
    (network.addresses([PRIVATE], None, 3478, queried=True), NOTICE, "let UDP out"),
    (network.addresses([PRIVATE], None, 3478, queried=False), NOTICE, "ICE_ADVERTISE_IP"),
    (network.addresses([PRIVATE, "fe80::1%eth0"], None, 3478, queried=False), NOTICE, "ICE_ADVERTISE_IP"),
    (network.addresses([PUBLIC], None, 3478, queried=False), OK, ""),
    (network.check_advertised([PUBLIC], [PRIVATE], PUBLIC, 3478), OK, ""),
    (network.check_advertised([PUBLIC], [PRIVATE], None, 3478), OK, ""),
    (network.check_advertised([PRIVATE], [PRIVATE], PUBLIC, 3478), OK, ""),
    (network.check_advertised([OTHER], [PRIVATE], PUBLIC, 3478), PROBLEM, "ICE_ADVERTISE_IP"),
    (network.tcp_port(3478, taken=True), OK, ""),
    (network.tcp_port(3478, taken=False), PROBLEM, "ICE_UDP_MUX_PORT"),
    (turn.unreachable(TURNS, ConnectionResetError()), PROBLEM, "TURN server"),
    (
        turn.explain_refusal(TURNS, turn.Refused(401, "Unauthorized"), allocated=False),
        PROBLEM,
        "static-auth-secret",
    ),
    (
        turn.explain_refusal(TURNS, turn.Refused(441, "Wrong Credentials"), allocated=False),
        PROBLEM,
        "TURN_SECRET",
    ),
    (
        turn.explain_refusal(TURNS, turn.Refused(486, "Allocation Quota"), allocated=False),
        PROBLEM,
        "user-quota",
    ),
    (turn.explain_refusal(TURNS, turn.Refused(403, "Forbidden"), allocated=False), PROBLEM, "log"),
    (turn.explain_refusal(TURNS, turn.Refused(403, "Forbidden"), allocated=True), PROBLEM, "allowed-peer-ip"),
    (public_address.secure_context(URL("https://chat.example.org")), OK, ""),
    (public_address.secure_context(URL("http://localhost:5000")), OK, ""),
    (public_address.secure_context(URL("http://127.0.0.1:5000")), OK, ""),
    (public_address.secure_context(URL("http://192.168.1.5:5000")), PROBLEM, "--tls"),
    (public_address.certificate_finding(NOW + timedelta(days=60), NOW)[0], OK, ""),
    (public_address.certificate_finding(NOW + timedelta(days=3), NOW)[0], NOTICE, "renewed"),
    (public_address.proxies(way(HTTPS, 1, ["198.51.100.1"]))[0], OK, ""),
    (public_address.proxies(way(HTTPS, 2, ["198.51.100.1, 10.0.0.1"]))[0], OK, ""),
    (public_address.proxies(way(LOCAL, 0, [], "localhost:5000"))[0], OK, ""),
    (public_address.proxies(way(HTTPS, 0, ["198.51.100.1"]))[0], PROBLEM, "Set it to 1"),
    (public_address.proxies(way(HTTPS, 1, ["198.51.100.1", "10.0.0.1"]))[0], PROBLEM, "Set it to 2"),
    (public_address.proxies(way(HTTPS, 3, ["198.51.100.1"]))[0], PROBLEM, "Set it to 1"),
    (public_address.proxies(way(HTTPS, 1, []))[0], PROBLEM, "X-Forwarded-For"),
    (public_address.proxies(way(HTTPS, 1, ["198.51.100.1"], "127.0.0.1:5000"))[-1], PROBLEM, "Host"),
    (public_address.proxies(way(f"{HTTPS}:443", 1, ["198.51.100.1"]))[-1], OK, ""),
    (services.diagnose({"obstacle": ""})[0], OK, ""),
    (services.diagnose({"obstacle": "SVC_SERVER_ENABLED is false"})[0], PROBLEM, "SVC_IDENTITY_TIERS"),
    (services.diagnose({"sfu_faults": ["ws://sfu:5005: it answers nothing"]})[0], PROBLEM, "svc sfu"),
    (services.diagnose({"push_contact": "https://chat.example.org"})[0], OK, ""),
    (services.diagnose({"push_contact": ""})[0], NOTICE, "EXTERNAL_HOST"),
    (services.diagnose({"jobs_waiting": 3, "worker_up": True})[0], OK, ""),
    (services.diagnose({"jobs_waiting": 0, "worker_up": False})[0], NOTICE, "svc worker"),
    (services.diagnose({"jobs_waiting": 3, "worker_up": False})[0], PROBLEM, "svc worker"),
]


@pytest.mark.parametrize(("finding", "verdict", "advice"), CASES)
def test_each_finding_has_a_verdict_and_advice(finding: Finding, verdict: Verdict, advice: str) -> None:
    assert finding.verdict is verdict
    assert advice in finding.advice
    assert bool(finding.advice) == (verdict is not OK)


def test_every_finding_is_short() -> None:
    assert max(len(finding.what) for finding, _, _ in CASES) <= 110
    assert max(len(finding.advice) for finding, _, _ in CASES) <= 110


def test_a_missing_certificate_is_not_reported() -> None:
    assert public_address.certificate_finding(None, NOW) == []
