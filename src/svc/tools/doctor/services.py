"""What a running server says of itself: whether people can join and call, and whether uploads are worked on.

Judges the answer of the control socket's `status_get`; asks nobody. A server of an older version
leaves facts out, and nothing is said of those.
"""

from collections.abc import Mapping
from typing import Any

from svc.tools.doctor.finding import Finding, Findings, notice, ok, problem


def examined(status: Mapping[str, Any]) -> Findings:
    found = []
    if "obstacle" in status:
        found.append(_joining(status["obstacle"]))
    for fault in status.get("sfu_faults", ()):
        found.append(problem(f"There are no calls: {fault}", "Start svc sfu, or see what its log says."))
    if "jobs_waiting" in status:
        found.append(_worker(status["jobs_waiting"], up=status["worker_up"]))
    return found


def _joining(obstacle: str) -> Finding:
    if not obstacle:
        return ok("People can join")
    return problem(
        f"Nobody can join: {obstacle}",
        "Add local to SVC_IDENTITY_TIERS, or set SVC_OIDC_ISSUER (docs/configuration.md).",
    )


def _worker(waiting: int, *, up: bool) -> Finding:
    if up:
        return ok("A media worker asks for work")
    advice = "Start svc worker with the same DATA_DIR; svc up does so."
    if waiting:
        return problem(f"{waiting} uploads wait, and no media worker asks for them", advice)
    return notice("No media worker asks for work: uploads will wait", advice)
