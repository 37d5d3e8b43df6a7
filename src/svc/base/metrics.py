"""Provides each program with a registry of metrics, including process, platform and garbage collector
statistics.

This is the only module that uses prometheus-client. It serves no HTTP and has no global state, so two
programs in one test process do not share values.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    GCCollector,
    Histogram,
    Info,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

__all__ = ["Counter", "Gauge", "Histogram", "Registry"]


class Registry:
    """A program's measurements."""

    def __init__(self) -> None:
        self._collectors = CollectorRegistry()
        ProcessCollector(registry=self._collectors)
        PlatformCollector(registry=self._collectors)
        GCCollector(registry=self._collectors)

    def gauge(self, name: str, description: str, labels: Sequence[str] = ()) -> Gauge:
        return Gauge(name, description, labels, registry=self._collectors)

    def counter(self, name: str, description: str, labels: Sequence[str] = ()) -> Counter:
        return Counter(name, description, labels, registry=self._collectors)

    def histogram(
        self, name: str, description: str, buckets: Sequence[float], labels: Sequence[str] = ()
    ) -> Histogram:
        return Histogram(name, description, labels, buckets=buckets, registry=self._collectors)

    def info(self, name: str, description: str, values: Mapping[str, str]) -> None:
        """Expose constant values as labels of the sample `name`_info, whose value is 1."""
        Info(name, description, registry=self._collectors).info(dict(values))

    def counters_from(self, read: Callable[[], Mapping[str, int]], descriptions: Mapping[str, str]) -> None:
        """Expose counters that are maintained elsewhere. `read` is called at every scrape."""
        self._collectors.register(_Counters(read, descriptions))

    def labelled_counter_from(
        self,
        name: str,
        description: str,
        labels: Sequence[str],
        read: Callable[[], Mapping[tuple[str, ...], int]],
    ) -> None:
        """Expose one counter as `counters_from` does, with a value for each combination of its labels."""
        self._collectors.register(_LabelledCounter(name, description, labels, read))

    def histogram_from(
        self,
        name: str,
        description: str,
        buckets: Sequence[float],
        read: Callable[[], tuple[Sequence[int], float]],
    ) -> None:
        """Expose a histogram that is maintained elsewhere.

        At every scrape, `read` returns the count of each bucket, the count above all of them, and the sum
        of the values.
        """
        self._collectors.register(_Histogram(name, description, buckets, read))

    def exposition(self) -> tuple[bytes, str]:
        """Return the text for a scraper, and its content type."""
        return generate_latest(self._collectors), CONTENT_TYPE_LATEST


class _Counters(Collector):
    def __init__(self, read: Callable[[], Mapping[str, int]], descriptions: Mapping[str, str]) -> None:
        self._read = read
        self._descriptions = descriptions

    def describe(self) -> Iterator[Metric]:
        # Describe the metric families without calling the source, which may not be running yet.
        return (CounterMetricFamily(name, text) for name, text in self._descriptions.items())

    def collect(self) -> Iterator[Metric]:
        values = self._read()
        for name, text in self._descriptions.items():
            yield CounterMetricFamily(name, text, value=values.get(name, 0))


class _LabelledCounter(Collector):
    def __init__(
        self,
        name: str,
        description: str,
        labels: Sequence[str],
        read: Callable[[], Mapping[tuple[str, ...], int]],
    ) -> None:
        self._name = name
        self._description = description
        self._labels = labels
        self._read = read

    def describe(self) -> Iterator[Metric]:
        yield CounterMetricFamily(self._name, self._description, labels=self._labels)

    def collect(self) -> Iterator[Metric]:
        family = CounterMetricFamily(self._name, self._description, labels=self._labels)
        for labels, value in self._read().items():
            family.add_metric(labels, value)
        yield family


class _Histogram(Collector):
    def __init__(
        self,
        name: str,
        description: str,
        buckets: Sequence[float],
        read: Callable[[], tuple[Sequence[int], float]],
    ) -> None:
        self._name = name
        self._description = description
        self._bounds = [*map(floatToGoString, buckets), "+Inf"]
        self._read = read

    def describe(self) -> Iterator[Metric]:
        yield HistogramMetricFamily(self._name, self._description)

    def collect(self) -> Iterator[Metric]:
        counts, total = self._read()
        buckets = list(zip(self._bounds, map(float, accumulate(counts)), strict=True))
        yield HistogramMetricFamily(self._name, self._description, buckets=buckets, sum_value=total)
