"""Evaluates the status that a running server reports: whether members can join the server and its calls, and
whether uploads are processed.

Based on the result of the control command `status_get`. Facts that an older server omits are not evaluated.
"""

from collections.abc import Mapping
from typing import Any

from svc.tools.doctor.check_result import Finding, Findings, notice, ok, problem


def diagnose(status: Mapping[str, Any]) -> Findings:
    findings = []
    if "obstacle" in status:
        findings.append(_joining(status["obstacle"]))
    for fault in status.get("sfu_faults", ()):
        findings.append(problem(f"Calls do not work: {fault}", "Start svc sfu, or read its log."))
    if "jobs_waiting" in status:
        findings.append(_worker(status["jobs_waiting"], up=status["worker_up"]))
    if "push_contact" in status:
        findings.append(_pushing(status["push_contact"]))
    return findings


def _pushing(contact: str) -> Finding:
    if contact:
        return ok(f"Push services know the server as {contact}")
    return notice(
        "Push services have no address of this server, and Apple's refuses notifications without one",
        "Set EXTERNAL_HOST, or open the page once at its public https address.",
    )


def _joining(obstacle: str) -> Finding:
    if not obstacle:
        return ok("People can join")
    return problem(
        f"Nobody can join: {obstacle}",
        "Add local to SVC_IDENTITY_TIERS, or set SVC_OIDC_ISSUER (docs/configuration.md).",
    )


def _worker(waiting: int, *, up: bool) -> Finding:
    if up:
        return ok("A media worker is connected")
    advice = "Start svc worker with the same DATA_DIR, or use svc up."
    if waiting:
        return problem(f"{waiting} uploads are waiting, and no media worker is connected", advice)
    return notice("No media worker is connected: uploads will wait", advice)
