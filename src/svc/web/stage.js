// The stage: a tile for every person and every shared screen. Draws what it is
// given; decides nothing. Names reach the page as text only.

import { hue, initials } from "./avatar.js";

const RATIO = 16 / 9;
const GAP_PX = 12;
const NARROWEST_TILE_PX = 150;

export class Stage {
  #stage; #people; #screens;

  constructor(stage, people, screens) {
    this.#stage = stage;
    this.#people = people;
    this.#screens = screens;
    const observer = new ResizeObserver(() => this.#fit());
    for (const list of [stage, people, screens]) observer.observe(list);
  }

  /** `people`: [{id, nickname, own, video}], `screens`: [{id, nickname, own, video}]; video is a MediaStreamTrack or null. */
  render(people, screens) {
    reconcile(this.#people, people, createPerson, updatePerson);
    reconcile(this.#screens, screens, createScreen, updateScreen);
    this.#screens.hidden = screens.length === 0;
    this.#stage.classList.toggle("presenting", screens.length > 0);
    this.#fit();
  }

  /** `ids`: the Set of people who speak right now. */
  showSpeaking(ids) {
    for (const tile of this.#people.children) tile.classList.toggle("speaking", ids.has(tile.dataset.id));
  }

  /** As many columns as make the tiles largest. */
  #fit() {
    for (const list of [this.#people, this.#screens]) {
      const { clientWidth: width, clientHeight: height } = list;
      const count = list.childElementCount;
      if (!count || !width) continue;
      list.style.setProperty("--tile", `${largestTile(count, width, height)}px`);
    }
  }
}

function largestTile(count, width, height) {
  let best = Math.min(width, NARROWEST_TILE_PX);
  for (let columns = 1; columns <= count; columns++) {
    const rows = Math.ceil(count / columns);
    const byWidth = (width - GAP_PX * (columns - 1)) / columns;
    const byHeight = ((height - GAP_PX * (rows - 1)) / rows) * RATIO;
    best = Math.max(best, Math.floor(Math.min(byWidth, byHeight)));
  }
  return best;
}

/** Make the list's children match `items`, keeping the elements of those that stay. */
function reconcile(list, items, create, update) {
  const old = new Map([...list.children].map((element) => [element.dataset.id, element]));
  for (const item of items) {
    const element = old.get(item.id) ?? create(item);
    old.delete(item.id);
    if (!element.isConnected) {
      element.dataset.id = item.id;
      list.append(element);
    }
    update(element, item);
  }
  for (const element of old.values()) element.remove();
}

function createPerson({ id }) {
  const tile = document.createElement("li");
  tile.className = "tile person";
  tile.style.setProperty("--hue", hue(id));
  tile.append(createVideo(), labelled("span", "avatar"), labelled("span", "name"));
  tile.querySelector(".avatar").setAttribute("aria-hidden", "true");
  return tile;
}

function updatePerson(tile, { nickname, own, video }) {
  tile.classList.toggle("mirrored", own);
  tile.querySelector(".avatar").textContent = initials(nickname);
  tile.querySelector(".name").textContent = own ? `${nickname} (you)` : nickname;
  show(tile, video);
}

function createScreen() {
  const tile = document.createElement("li");
  tile.className = "tile screen";
  const full = document.createElement("button");
  full.className = "full";
  full.type = "button";
  full.innerHTML = '<svg aria-hidden="true"><use href="#icon-full"></use></svg>';
  full.setAttribute("aria-label", "Full screen");
  full.hidden = !document.fullscreenEnabled;
  full.addEventListener("click", () => {
    if (document.fullscreenElement) document.exitFullscreen();
    else tile.requestFullscreen();
  });
  tile.append(createVideo(), labelled("span", "name"), full);
  return tile;
}

function updateScreen(tile, { nickname, own, video }) {
  tile.querySelector(".name").textContent = own ? "Your screen" : `${nickname}’s screen`;
  show(tile, video);
}

function createVideo() {
  const video = document.createElement("video");
  Object.assign(video, { autoplay: true, playsInline: true, muted: true, disablePictureInPicture: true });
  return video;
}

function show(tile, track) {
  const video = tile.querySelector("video");
  tile.classList.toggle("with-video", track !== null);
  if ((video.srcObject?.getVideoTracks()[0] ?? null) === track) return;
  video.srcObject = track && new MediaStream([track]);
}

function labelled(tag, className) {
  const element = document.createElement(tag);
  element.className = className;
  return element;
}
