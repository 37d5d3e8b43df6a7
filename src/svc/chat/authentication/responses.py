"""Response and event types for devices and their codes. `Device` is in `store`."""

from svc.chat.authentication.store import Device
from svc.chat.schemas import Id, Response, TimeMs


class LinkCode(Response):
    code: str
    expires_at_ms: TimeMs


class RecoveryCode(Response):
    code: str
    made_at_ms: TimeMs


class DeviceLinked(Response):
    device: Device


class DeviceUnlinked(Response):
    device_id: Id


class RecoveryCodeCreated(Response):
    made_at_ms: TimeMs
