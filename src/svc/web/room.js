// The view of a call around the stage: heading, state, notices and the four
// controls. Draws what it is given and reports what is pressed.

const byId = (id) => document.getElementById(id);

const STATES = { joining: "Connecting…", connected: "Connected", reconnecting: "Reconnecting…", over: "" };

export class Room {
  /** `on`: {mic, camera, screen, leave, unblock}, one function per button. */
  constructor(on) {
    for (const [id, pressed] of Object.entries(on)) byId(id).addEventListener("click", pressed);
    byId("notice-close").addEventListener("click", () => this.notify(""));
  }

  show(visible) {
    byId("call").hidden = !visible;
    if (visible) byId("room-name").focus();
    else this.notify("");
  }

  render({ name, count, state }) {
    byId("room-name").textContent = name;
    byId("people-count").textContent = count === 1 ? "Only you" : `${count} people`;
    byId("call-state").textContent = STATES[state];
    byId("call-state").dataset.state = state;
  }

  /** `publisher`: what we send, with `mic`, `muted`, `camera` and `screen`. */
  renderControls({ mic, muted, camera, screen }) {
    const heard = mic !== null && !muted;
    dress("mic", heard, heard ? "mic" : "mic-off", heard ? "Mute" : "Unmute");
    dress("camera", camera !== null, camera ? "camera" : "camera-off", camera ? "Stop camera" : "Start camera");
    dress("screen", screen !== null, screen ? "screen-stop" : "screen", screen ? "Stop sharing" : "Share screen");
    byId("screen").hidden = !navigator.mediaDevices?.getDisplayMedia;
  }

  notify(message) {
    byId("notice").hidden = !message;
    byId("notice-text").textContent = message;
  }

  showBlocked(blocked) {
    byId("unblock").hidden = !blocked;
  }
}

/** The label names what pressing does, so there is no aria-pressed beside it; the look shows what is on. */
function dress(id, on, icon, label) {
  const button = byId(id);
  button.classList.toggle("on", on);
  button.querySelector("use").setAttribute("href", `#icon-${icon}`);
  button.querySelector("span").textContent = label;
}
