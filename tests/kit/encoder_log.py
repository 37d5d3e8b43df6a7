"""Logs the video encodings that the service requested from a page and those that the page set.

Run SCRIPT in a page before it joins a call. Times are in milliseconds of the machine's clock, so the logs of
several pages are comparable.
"""

from dataclasses import dataclass

from tests.kit.page_statistics import Watcher

SCRIPT = """
window.encoderLog = [];
const listen = WebSocket.prototype.addEventListener;
WebSocket.prototype.addEventListener = function (name, listener, ...more) {
  if (name === "message" && this.url.endsWith("/sfu/client"))
    listen.call(this, name, ({ data }) => {
      const frame = JSON.parse(data);
      if (frame.event !== "layers_wanted") return;
      const { source, watched, encodings } = JSON.parse(frame.data);
      if (source === "camera" && encodings)
        encoderLog.push([Date.now(), "wanted", encodings.map((on) => watched && on)]);
    });
  return listen.call(this, name, listener, ...more);
};
const set = RTCRtpSender.prototype.setParameters;
RTCRtpSender.prototype.setParameters = async function (parameters, ...more) {
  await set.call(this, parameters, ...more);
  if (parameters.encodings.length > 1)
    encoderLog.push([Date.now(), "set", parameters.encodings.map(({ active }) => active)]);
};
"""
ALL, SMALLEST, NONE = (True, True, True), (True, False, False), (False, False, False)


@dataclass(frozen=True, slots=True)
class Entry:
    at_ms: float
    event: str  # "wanted" by the service, or "set" by the page
    encodings: tuple[bool, ...]  # smallest first


async def entries(person: Watcher, since_ms: float = 0) -> list[Entry]:
    log = await person.evaluate("() => encoderLog")
    return [Entry(at_ms, event, tuple(encodings)) for at_ms, event, encodings in log if at_ms >= since_ms]


async def request_layers(person: Watcher, track_id: str, changes: str) -> float:
    """Change which layers of a track the page requests. Return the time of the change.

    `changes` is a JavaScript object.
    """
    script = f"() => {{ const at = Date.now(); svc.call.requestLayers('{track_id}', {changes}); return at; }}"
    return float(await person.evaluate(script))
