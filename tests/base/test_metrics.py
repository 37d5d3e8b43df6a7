"""Each program has its own metrics in addition to the runtime metrics."""

from svc.base.metrics import Registry


def exposed(registry: Registry) -> str:
    return registry.exposition()[0].decode()


def test_runtime_metrics_exist_from_the_start() -> None:
    text = exposed(Registry())
    assert "process_resident_memory_bytes" in text
    assert "python_info" in text
    assert "python_gc_collections_total" in text


def test_the_content_type_is_prometheus_text() -> None:
    assert Registry().exposition()[1].startswith("text/plain; version=")


def test_two_registries_do_not_share_values() -> None:
    first, second = Registry(), Registry()
    first.gauge("svc_sfu_rooms_active", "Rooms").set(3)
    second.gauge("svc_sfu_rooms_active", "Rooms").set(4)
    assert "svc_sfu_rooms_active 3.0" in exposed(first)
    assert "svc_sfu_rooms_active 4.0" in exposed(second)


def test_external_counters_are_read_at_each_scrape() -> None:
    counts = {"svc_sfu_packets_received": 1}
    registry = Registry()
    registry.counters_from(lambda: counts, {"svc_sfu_packets_received": "Packets received"})
    assert "svc_sfu_packets_received_total 1.0" in exposed(registry)
    counts["svc_sfu_packets_received"] = 5
    assert "svc_sfu_packets_received_total 5.0" in exposed(registry)
