"""Tests the HTTP endpoints: health, metrics, and rejected WebSocket upgrades. See docs/signalling.md."""

import asyncio
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import pytest

from svc.sfu.app import Flags
from svc.sfu.network_path import Path
from svc.sfu.stun import read_message, success_response
from tests.kit.signalling_server import SECRET, SignallingServer, signalling_server
from tests.kit.virtual_time import in_virtual_time

GAUGES = ("rooms", "peers", "websocket_connections", "tracks")


async def get(server: SignallingServer, path: str, **options: Any) -> tuple[int, Any]:
    async with server.http.get(server.url + path, **options) as response:
        body = await (response.json() if response.content_type == "application/json" else response.text())
        return response.status, body


@in_virtual_time
async def test_health_reports_the_package_version_and_the_time_in_utc() -> None:
    async with signalling_server() as server:
        status, body = await get(server, "/health")
        assert status == 200
        moment = datetime.fromisoformat(body.pop("timestamp"))
        assert body == {"status": "healthy", "service": "sfu", "version": version("svc-server")}
        assert moment.tzinfo is UTC or moment.utcoffset() is not None
        assert abs(moment.timestamp() - server.sfu.wall_clock()) < 1


@in_virtual_time
async def test_health_responds_with_503_until_the_stun_probe_succeeds() -> None:
    async with signalling_server({"DISABLE_STUN": "false", "STUN_SERVERS": "192.0.2.53:3478"}) as server:
        assert await get(server, "/health") == (
            503,
            {"status": "starting", "detail": "verifying UDP connectivity"},
        )
        ((request, path),) = server.plane.probes
        message = read_message(request)
        assert message is not None and path.remote == ("192.0.2.53", 3478) and server.plane.probe_listener
        response = success_response(message, Path(("203.0.113.9", 3478), "192.0.2.1"), "")
        server.plane.probe_listener(response, Path(path.remote, "192.0.2.1"))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert (await get(server, "/health"))[0] == 200


@in_virtual_time
async def test_clients_can_join_while_health_is_still_starting() -> None:
    async with signalling_server({"DISABLE_STUN": "false", "STUN_SERVERS": "192.0.2.53"}) as server:
        await server.control()
        await server.join("ann")
        assert (await get(server, "/health"))[0] == 503


@in_virtual_time
async def test_the_service_is_healthy_after_eight_attempts_without_a_response() -> None:
    async with signalling_server({"DISABLE_STUN": "false", "STUN_SERVERS": "192.0.2.53"}) as server:
        await asyncio.sleep(60)
        assert len(server.plane.probes) >= 8
        assert (await get(server, "/health"))[0] == 200


@pytest.mark.parametrize(
    "variables", [{"DISABLE_STUN": "true"}, {"DISABLE_STUN": "false", "STUN_SERVERS": ""}]
)
@in_virtual_time
async def test_the_probe_is_skipped_when_stun_is_disabled_or_no_server_is_configured(
    variables: dict[str, str],
) -> None:
    async with signalling_server(variables) as server:
        assert (await get(server, "/health"))[0] == 200
        await asyncio.sleep(60)
        assert server.plane.probes == []


@in_virtual_time
async def test_a_discovered_reflexive_address_is_sent_to_present_clients_and_offered_to_later_ones() -> None:
    async with signalling_server({"DISABLE_STUN": "false", "STUN_SERVERS": "192.0.2.53"}) as server:
        await server.control()
        ann = await server.join("ann")
        message = read_message(server.plane.probes[0][0])
        assert message is not None and server.plane.probe_listener
        outside, stun_server = ("203.0.113.9", 40000), ("192.0.2.53", 3478)
        server.plane.probe_listener(
            success_response(message, Path(outside), ""), Path(stun_server, "192.0.2.1")
        )
        init = await ann.hear("candidate")
        assert "203.0.113.9 40000 typ srflx" in init["candidate"] and init["sdpMid"] == "0"
        assert "203.0.113.9 40000 typ srflx" in (await server.join("ben")).offer["sdp"]


@pytest.mark.parametrize("path", ["/", "/client", "/server", "/anything/else"])
@in_virtual_time
async def test_a_request_without_an_upgrade_gets_400_with_a_one_sentence_explanation(path: str) -> None:
    async with signalling_server() as server:
        status, text = await get(server, path)
        assert status == 400 and text.endswith(".") and text.count(".") == 1
        async with server.http.post(server.url + path) as response:
            assert response.status == 400


@in_virtual_time
async def test_metrics_are_in_the_prometheus_text_format_and_include_runtime_metrics() -> None:
    async with signalling_server() as server:
        async with server.http.get(server.url + "/metrics") as response:
            assert response.headers["Content-Type"].startswith("text/plain; version=")
        samples = await server.metrics()
        assert samples["process_open_fds"] > 0
        assert any(name.startswith("python_info") for name in samples)
        assert any(name.startswith("python_gc_collections_total") for name in samples)


@in_virtual_time
async def test_the_four_gauges_are_updated_from_the_real_state_every_15_s() -> None:
    async with signalling_server() as server:
        await server.control("home", "lobby", "attic")
        # A client without a media path loses its seat after 15 s.
        await asyncio.sleep(5)
        ann = await server.join("ann")
        await ann.answer()
        await asyncio.sleep(11)
        samples = await server.metrics()
        assert {name: samples[f"svc_sfu_{name}_active"] for name in GAUGES} == {
            "rooms": 2,
            "peers": 1,
            "websocket_connections": 2,
            "tracks": 0,
        }
        await ann.close()
        await asyncio.sleep(15)
        samples = await server.metrics()
        assert samples["svc_sfu_peers_active"] == 0 and samples["svc_sfu_websocket_connections_active"] == 1


@in_virtual_time
async def test_the_metrics_include_the_core_counters_and_the_sessions() -> None:
    async with signalling_server() as server:
        server.plane.counters |= {"packets_received": 7, "dropped_malformed": 2}
        await server.ask_to_join("ann")
        await asyncio.sleep(1)
        samples = await server.metrics()
        assert samples["svc_sfu_packets_received_total"] == 7
        assert samples["svc_sfu_dropped_malformed_total"] == 2
        assert samples["svc_sfu_refused_joins_total"] == 1
        assert samples["svc_sfu_handshake_failures_total"] == 0
        assert samples['svc_sfu_forwarding_delay_seconds_bucket{le="0.001"}'] == 0


@in_virtual_time
async def test_health_metrics_and_room_errors_contain_no_secret() -> None:
    async with signalling_server() as server:
        await server.control()
        for path in ("/health", "/metrics"):
            _, body = await get(server, path)
            assert SECRET not in str(body)


@pytest.mark.parametrize("header", ["X-Forwarded-For", "Forwarded", "X-Real-IP"])
@in_virtual_time
async def test_a_control_connection_through_a_proxy_is_rejected(header: str) -> None:
    async with signalling_server() as server:
        assert (await get(server, "/server", headers={header: "198.51.100.1"}))[0] == 403


@in_virtual_time
async def test_a_flag_allows_control_connections_from_anywhere() -> None:
    async with signalling_server(flags=Flags(host="127.0.0.1", control_from_anywhere=True)) as server:
        assert (await get(server, "/server", headers={"X-Forwarded-For": "198.51.100.1"}))[0] == 400
