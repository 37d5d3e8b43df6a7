"""Runs the containers of deploy/compose/cluster.yml and of deploy/helm as processes.

Each container or pod is a host. Each process has the command and the environment of its container, and
reaches the others by their names. A process that exits is restarted. The differences are: volumes and
configuration files are in a temporary folder, the store is rclone, the proxy looks names up only when it
starts, and the root is not read-only. The caller must be in a private network with `hosts_file` in place of
/etc/hosts (`tests.kit.namespace.in_namespace`).
"""

import asyncio
import os
import re
import sys
from asyncio.subprocess import DEVNULL, Process
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.kit.cluster_network import Host, NamespaceNetwork, run
from tests.kit.external_programs import required

_FOLDER = Path("/mnt")
_RESTART_S = 1.0
# The user in deploy/container/Dockerfile.
IMAGE_USER = 10001
_REFERENCE = re.compile(r"\$\$|\$\{(\w+)(?::[-?]([^}]*))?\}")


@dataclass
class Container:
    """One container. Containers with the same `host` share a network."""

    host: str
    image: str
    arguments: list[str]
    variables: dict[str, str]
    # The names of volumes, and the contents of files, by the path at which they are mounted.
    volumes: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    # The user that runs the container, and the user, group and mode of its volumes.
    user: int = 0
    volume_access: tuple[int, int, int] = (0, 0, 0o755)


@dataclass
class Deployment:
    """The containers, and all names of each host."""

    containers: Sequence[Container]
    names: Mapping[str, Sequence[str]]

    @property
    def hosts(self) -> dict[str, str]:
        """The address of each host."""
        return {name: f"10.9.{number}.2" for number, name in enumerate(self.names, start=1)}

    def hosts_file(self) -> str:
        lines = [f"{address} {' '.join(self.names[host])}\n" for host, address in self.hosts.items()]
        return "".join(["127.0.0.1 localhost\n", *lines])


def of_compose(document: Mapping[str, Any], variables: Mapping[str, str]) -> Deployment:
    """Return the containers of a compose file. Services that only prepare other services are omitted."""

    def expanded(value: object) -> str:
        def replacement(found: re.Match[str]) -> str:
            if found[0] == "$$":
                return "$"
            return variables.get(found[1]) or (found[2] or "" if ":-" in found[0] else variables[found[1]])

        return _REFERENCE.sub(replacement, str(value))

    configs = {name: expanded(config["content"]) for name, config in document["configs"].items()}
    containers = []
    for name, service in document["services"].items():
        if "entrypoint" in service:
            continue
        volumes = dict(reversed(volume.split(":")) for volume in service.get("volumes", ()))
        containers.append(
            Container(
                name,
                service["image"],
                [expanded(each) for each in service.get("command", ())],
                {key: expanded(value) for key, value in service.get("environment", {}).items()},
                volumes,
                {config["target"]: configs[config["source"]] for config in service.get("configs", ())},
                # A new volume gets the mode that the folder has in the image.
                *((IMAGE_USER, (IMAGE_USER, IMAGE_USER, 0o700)) if service["image"] == "svc" else ()),
            )
        )
    return Deployment(containers, {each.host: [each.host] for each in containers})


def of_chart(documents: Sequence[Mapping[str, Any]], secret: Mapping[str, str]) -> Deployment:
    """Return the containers of a chart's pods. `secret` has the values of its secret."""
    configs = {each["metadata"]["name"]: each["data"] for each in documents if each["kind"] == "ConfigMap"}
    containers: list[Container] = []
    names: dict[str, list[str]] = {}
    for document in documents:
        if document["kind"] not in ("StatefulSet", "Deployment"):
            continue
        spec, workload = document["spec"], document["metadata"]["name"]
        for number in range(spec["replicas"]):
            pod = f"{workload}-{number}"
            service = spec.get("serviceName", workload)
            domain = f"{pod}.{service}"
            names[pod] = [pod, domain, f"{domain}.default.svc.cluster.local", service]
            for container in spec["template"]["spec"]["containers"]:
                containers.append(_of_pod(container, pod, spec["template"]["spec"], configs, secret))
    return Deployment([each for each in containers if "/mc:" not in each.image], names)


def _of_pod(
    container: Mapping[str, Any],
    pod: str,
    spec: Mapping[str, Any],
    configs: Mapping[str, Mapping[str, str]],
    secret: Mapping[str, str],
) -> Container:
    variables: dict[str, str] = {}

    def expanded(text: str) -> str:
        return re.sub(r"\$\((\w+)\)", lambda found: variables.get(found[1], found[0]), text)

    for each in container.get("env", ()):
        origin = each.get("valueFrom", {})
        if "secretKeyRef" in origin:
            variables[each["name"]] = secret[origin["secretKeyRef"]["key"]]
        elif "fieldRef" in origin:
            variables[each["name"]] = pod if origin["fieldRef"]["fieldPath"] == "metadata.name" else ""
        else:
            variables[each["name"]] = expanded(each["value"])
    mounted = {volume["name"]: volume for volume in spec.get("volumes", ())}
    volumes: dict[str, str] = {}
    files: dict[str, str] = {}
    for mount in container.get("volumeMounts", ()):
        volume = mounted.get(mount["name"], {})
        if "configMap" in volume:
            data = configs[volume["configMap"]["name"]]
            files |= {f"{mount['mountPath']}/{name}": content for name, content in data.items()}
        elif mount["mountPath"] != "/tmp":
            volumes[mount["mountPath"]] = f"{pod}-{mount['name']}"
    arguments = [expanded(each) for each in container.get("args", ())]
    security = spec["securityContext"]
    # Kubernetes assigns a volume to the group, and root remains its owner.
    access = (0, security.get("fsGroup", 0), 0o2775)
    user = security["runAsUser"]
    return Container(pod, container["image"], arguments, variables, volumes, files, user, access)


class Running:
    """The running processes. `addresses` has the address of each host."""

    def __init__(self, folder: Path, image_variables: Mapping[str, str]) -> None:
        self.folder, self._image_variables = folder, image_variables
        self.hosts: dict[str, Host] = {}
        self._processes: dict[str, Process] = {}
        self._running: list[asyncio.Task[None]] = []

    def volume(self, name: str, access: tuple[int, int, int] | None = None) -> Path:
        """Return the folder of a volume. Create it if it has not been used yet."""
        folder = self.folder / "volumes" / name
        if access is not None and not folder.exists():
            user, group, mode = access
            folder.mkdir(parents=True)
            os.chown(folder, user, group)
            folder.chmod(mode)
        return folder

    def start(self, container: Container) -> None:
        self._running.append(asyncio.create_task(self._keep_running(container)))

    async def kill(self, host: str) -> None:
        """Kill the processes of a host permanently."""
        for task in [each for each in self._running if each.get_name() == host]:
            task.cancel()
        for name in [name for name in self._processes if name.startswith(f"{host} ")]:
            await _end(self._processes[name])

    async def close(self) -> None:
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)
        for process in self._processes.values():
            await _end(process)

    def logs(self) -> str:
        return "".join(
            f"{path.stem}:\n{path.read_text(errors='replace')[-4000:]}\n"
            for path in sorted(self.folder.glob("*.log"))
        )

    async def _keep_running(self, container: Container) -> None:
        task = asyncio.current_task()
        assert task is not None
        task.set_name(container.host)
        command, environment = self._command(container)
        name = f"{container.host} {Path(container.image).name.partition(':')[0]} {container.arguments[:1]}"
        while True:
            with (self.folder / f"{name.replace('/', '_')}.log").open("ab") as log:
                process = await asyncio.create_subprocess_exec(
                    *(*self.hosts[container.host].inside, *_as_user_of(container), *command),
                    env=environment,
                    cwd=self.folder,
                    stdin=DEVNULL,
                    stdout=log,
                    stderr=log,
                )
            self._processes[name] = process
            await process.wait()
            await asyncio.sleep(_RESTART_S)

    def _command(self, container: Container) -> tuple[list[str], dict[str, str]]:
        """Return a container's command and its environment."""
        places = {
            path: str(self.volume(name, container.volume_access)) for path, name in container.volumes.items()
        }
        for path, content in container.files.items():
            file = self.folder / container.host / path.lstrip("/")
            file.parent.mkdir(parents=True, exist_ok=True)
            for mounted, place in places.items():
                content = re.sub(rf"(store_dir: ){mounted}\b", rf"\g<1>{place}", content)
            file.write_text(_without_resolvers(content))
            places[path] = str(file)

        def placed(text: str) -> str:
            for path, place in places.items():
                if text == path or text.startswith(f"{path}/"):
                    return place + text.removeprefix(path)
            return text

        program, _, _ = container.image.rpartition("/")[2].partition(":")
        own = {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "HOSTNAME": container.host, **container.variables}
        arguments = [placed(each) for each in container.arguments]
        tools = Path(sys.executable)
        match program:
            case "svc":
                own = {**self._image_variables, **own, "PYTHONPATH": ":".join(sys.path)}
                own["DATA_DIR"] = placed(own["DATA_DIR"])
                if "ICE_ADVERTISE_IP" in own:
                    own["ICE_ADVERTISE_IP"] = self.hosts[container.host].address
                return [str(tools), "-m", "svc.cli", *arguments], own
            case "nats":
                return [str(tools.with_name("nats-server")), *arguments], own
            case "haproxy":
                (config,) = (each for path, each in places.items() if path.endswith("haproxy.cfg"))
                return [required("haproxy"), "-f", config], own
            case "minio":
                keys = f"{own['MINIO_ROOT_USER']},{own['MINIO_ROOT_PASSWORD']}"
                folder = placed(arguments[1])
                bucket = Path(folder) / "svc"
                bucket.mkdir(exist_ok=True)
                bucket.chmod(0o777)
                serve = ("serve", "s3", "--addr", ":9000", "--auth-key", keys)
                return [str(tools.with_name("rclone")), *serve, "--config", os.devnull, folder], own
        raise AssertionError(f"no program for {container.image}")


def _as_user_of(container: Container) -> Sequence[str]:
    """Return the command prefix that runs a program as the container's user, without privileges except to
    read the checkout.
    """
    if not container.user:
        return ()
    group, reads = container.volume_access[1], "-all,+dac_read_search"
    return (
        *("setpriv", f"--reuid={container.user}", f"--regid={group}", "--clear-groups", "--no-new-privs"),
        *(f"--inh-caps={reads}", f"--ambient-caps={reads}", f"--bounding-set={reads}", "--"),
    )


def _without_resolvers(text: str) -> str:
    """Return a proxy's configuration without its name server, which only containers have."""
    text = re.sub(r"^resolvers .*\Z", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r" init-addr .*$", "", text, flags=re.MULTILINE)


async def _end(process: Process) -> None:
    if process.returncode is None:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


@asynccontextmanager
async def running(deployment: Deployment, image_variables: Mapping[str, str]) -> AsyncIterator[Running]:
    """Run all containers concurrently while the block runs. If the block fails, print their output."""
    async with AsyncExitStack() as stack:
        network = NamespaceNetwork(stack)
        # The mount ends with the private network. Unlike pytest's own folder, every user may enter it.
        await run("mount", "-t", "tmpfs", "volumes", str(_FOLDER))
        processes = Running(_FOLDER, image_variables)
        for name, address in deployment.hosts.items():
            processes.hosts[name] = await network.host(name)
            assert processes.hosts[name].address == address
        try:
            for container in deployment.containers:
                processes.start(container)
            yield processes
        except BaseException:
            sys.stderr.write(processes.logs())
            raise
        finally:
            await processes.close()
