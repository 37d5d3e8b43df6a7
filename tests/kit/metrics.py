"""Reads the metrics of a running service."""

from aiohttp import ClientSession


async def metrics_of(http: ClientSession, url: str) -> dict[str, float]:
    """Return every sample of /metrics, keyed by name and labels."""
    async with http.get(url + "/metrics") as response:
        lines = (await response.text()).splitlines()
    samples = (line.rsplit(" ", 1) for line in lines if line[:1] not in ("#", ""))
    return {name: float(value) for name, value in samples}
