// The first view: name, room, and what to join with. Draws what it is given and
// reports what the person wants; talks to no server.

const byId = (id) => document.getElementById(id);

export class Lobby {
  #form = byId("join-form"); #rooms = []; #busy = false; #reachable = true; #blocked = false;

  /**
   * `onJoin({name, invite, channelId, mic, camera})` on submit, `onRead` with the same to join without a call,
   * `onForget()` for another name.
   */
  constructor({ invite, onJoin, onRead, onForget }) {
    byId("invite").value = invite;
    byId("join-to-read").addEventListener("click", () => this.#submit(onRead));
    byId("forget").addEventListener("click", onForget);
    for (const device of ["mic", "camera"]) {
      byId(`with-${device}`).addEventListener("click", () => this.#toggle(device));
    }
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit(onJoin);
    });
  }

  /** With the room `channelId` chosen, if there is such a one. */
  show(visible, channelId = null) {
    byId("lobby").hidden = !visible;
    for (const radio of byId("room-list").querySelectorAll("input")) if (radio.value === channelId) radio.checked = true;
    if (visible) (byId("name-row").hidden ? byId("join") : byId("name")).focus();
  }

  /** `member`: {nickname} or null; `rooms`: [{id, name, members}], empty until known. */
  render({ member, rooms }) {
    this.#rooms = rooms;
    byId("name-row").hidden = member !== null;
    byId("signed-in").hidden = member === null;
    byId("join-to-read").hidden = member !== null;
    byId("own-name").textContent = member?.nickname ?? "";
    byId("lobby-title").textContent = rooms.length === 1 ? rooms[0].name : "Join the conversation";
    byId("presence").textContent = rooms.length === 1 ? presence(rooms[0].members) : "Talk, show your camera, share your screen.";
    this.#renderRooms(rooms);
    this.#reachable = member === null || rooms.length > 0;
    this.#renderButton();
  }

  askInvite() {
    byId("invite-row").hidden = false;
    byId("invite").focus();
  }

  /** Nobody can join from here; say why. */
  block(message) {
    this.#blocked = true;
    this.fail(message);
    this.#renderButton();
  }

  setBusy(busy) {
    this.#busy = busy;
    this.#renderButton();
  }

  /** Say what went wrong, beside the field `id` when it is that field's fault. */
  fail(message, id = null) {
    byId("lobby-error").textContent = message;
    for (const field of [byId("name"), byId("invite")]) field.setAttribute("aria-invalid", String(field.id === id));
    if (id) byId(id).focus();
  }

  #submit(then) {
    this.fail("");
    if (!this.#form.elements.name.value.trim() && !byId("name-row").hidden) return this.fail("Please enter a name.", "name");
    return then(this.#wishes());
  }

  #wishes() {
    const { name, invite, room } = this.#form.elements;
    return {
      name: name.value.trim(),
      invite: invite.value.trim(),
      channelId: room?.value || this.#rooms[0]?.id || null,
      mic: byId("with-mic").ariaPressed === "true",
      camera: byId("with-camera").ariaPressed === "true",
    };
  }

  #toggle(device) {
    const button = byId(`with-${device}`);
    const on = button.ariaPressed !== "true";
    button.ariaPressed = String(on);
    button.querySelector("use").setAttribute("href", `#icon-${device}${on ? "" : "-off"}`);
  }

  #renderButton() {
    const button = byId("join");
    button.disabled = byId("join-to-read").disabled = this.#blocked || this.#busy || !this.#reachable;
    button.textContent = this.#busy ? "Joining…" : this.#reachable ? "Join" : "Connecting…";
  }

  #renderRooms(rooms) {
    byId("rooms").hidden = rooms.length < 2;
    const list = byId("room-list");
    const shown = [...list.children].map(({ dataset }) => dataset.id);
    if (String(shown) !== String(rooms.map(({ id }) => id))) {
      list.replaceChildren(...rooms.map(createRoom));
      if (rooms.length) list.querySelector("input").checked = true;
    }
    // Only texts change from here on, so that the keyboard keeps its place.
    rooms.forEach(({ members }, index) => { list.children[index].querySelector("small").textContent = presence(members); });
  }
}

function createRoom({ id, name }) {
  const label = document.createElement("label");
  label.dataset.id = id;
  const radio = Object.assign(document.createElement("input"), { type: "radio", name: "room", value: id });
  const title = Object.assign(document.createElement("span"), { textContent: name });
  label.append(radio, title, document.createElement("small"));
  return label;
}

function presence(members) {
  const names = members.map(({ nickname }) => nickname);
  if (names.length === 0) return "Nobody is here yet.";
  if (names.length > 3) return `${names.slice(0, 2).join(", ")} and ${names.length - 2} others are here.`;
  const list = new Intl.ListFormat("en").format(names);
  return `${list} ${names.length === 1 ? "is" : "are"} here.`;
}
