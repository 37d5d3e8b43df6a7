"""Determines which sandbox layers confine the upload decoders on this machine, by starting a sandbox that
decodes nothing.
"""

from collections.abc import Collection

from svc.base.sandbox import Limits, Refused, Sandbox, SandboxFailed
from svc.base.sandbox_protocol import Layer
from svc.tools.doctor.check_result import Findings, notice, ok, problem

_LIMITS = Limits(memory_bytes=64 * 1024 * 1024, deadline_s=10, cpu_s=10, result_bytes=1024)
_NAMES = {
    Layer.NAMESPACES: "namespaces",
    Layer.ROOT: "an empty root",
    Layer.USER: "another user",
    Layer.LANDLOCK: "Landlock",
    Layer.SECCOMP: "seccomp",
}
# A missing separate user needs no advice. This layer exists only if the server starts as root, which is
# unnecessary.
_ADVICE = {
    Layer.NAMESPACES: "Allow them: sysctl user.max_user_namespaces, and RestrictNamespaces= in the unit.",
    Layer.ROOT: "Allow user namespaces, and mount, umount2 and pivot_root in the unit's SystemCallFilter=.",
    Layer.LANDLOCK: "Use Linux 5.13 or later, with landlock among lsm= of the kernel's command line.",
    Layer.SECCOMP: "Run the server on x86-64 or aarch64, with a kernel that has seccomp filters.",
}


async def diagnose() -> Findings:
    async with Sandbox("svc.base.sandbox_protocol", at_once=1, broken="") as sandbox:
        try:
            await sandbox.call("nothing", {}, [], _LIMITS)
        except (Refused, SandboxFailed) as fault:
            return [
                problem(
                    f"Pictures and videos cannot be decoded here: {fault}",
                    "Uploads fail until this works. See the server's log.",
                )
            ]
        return confinement(sandbox.layers or frozenset())


def confinement(layers: Collection[Layer]) -> Findings:
    """Return the findings, given the active layers."""
    held = ", ".join(name for layer, name in _NAMES.items() if layer in layers)
    missing = [layer for layer in _ADVICE if layer not in layers]
    if not held:
        return [
            problem(
                "Only limits confine the upload decoders: a hostile file could reach the server's files",
                "Run the server on Linux 5.13 or later, or do not let strangers upload files.",
            )
        ]
    findings = [ok(f"The upload decoders are confined by {held}")]
    # Containers often forbid namespaces. These two layers are enough without them.
    if Layer.SECCOMP in layers and (Layer.LANDLOCK in layers or Layer.ROOT in layers):
        findings += [ok(f"This system refuses {_NAMES[layer]}; the rest is enough") for layer in missing]
    else:
        findings += [
            notice(f"This system refuses {_NAMES[layer]} to the upload decoders", _ADVICE[layer])
            for layer in missing
        ]
    return findings
