// Renders the images, videos, audio and other files of a message. Space is reserved for each file before it
// loads, to prevent layout shifts. All files come from this server, from the URLs that it provides.

import { showDialog } from "../../state/navigation.js";
import { isSpoiler, shownName } from "../../state/uploads.js";
import { html, useEffect, useRef, useState } from "../../vendor/preact.js";
import { Icon } from "../parts/icon.js";
import { language, t } from "../../words/words.js";

/**
 * @import { Attachment as Posted } from "../../types/api.js"
 * @import { ComponentChildren, RefObject } from "../../vendor/preact.js"
 *
 * A file in a message, in a channel or a private conversation.
 * @typedef {Pick<Posted, "id" | "name" | "url" | "bytes" | "width" | "height" | "placeholder" | "alt"> &
 *   {kind: string, thumbnail: {url: string} | null, poster: {url: string} | null}} Attached
 * @typedef {{width: number, height: number}} Size
 * @typedef {Attached & Size} Sized
 * @typedef {{widest?: number, highest?: number}} Room the maximum size
 */

const WIDEST_PX = 420;
const HIGHEST_PX = 320;

/**
 * The files of a message. `pictures` are the images that the lightbox shows. By default, it shows all images
 * in the channel.
 * @param {{files: Attached[], channelId?: string, pictures?: Attached[]}} props
 */
export function Attachments({ files, channelId, pictures: all }) {
  if (!files.length) return null;
  const pictures = files.filter(isPicture);
  return html`<div class="media">
    ${
      pictures.length > 0 &&
      html`<div class=${pictures.length > 1 ? "gallery" : "single"}>
        ${pictures.map(
          (file) =>
            html`<${Shown}
              key=${file.id}
              file=${file}
              View=${Openable}
              channelId=${channelId}
              all=${all}
              alone=${pictures.length === 1}
            />`,
        )}
      </div>`
    }
    ${files
      .filter((file) => !isPicture(file))
      .map((file) => html`<${Shown} key=${file.id} file=${file} View=${Attachment} />`)}
  </div>`;
}

/** @param {Attached} file @returns {file is Sized} */
const isSized = (file) => Boolean(file.width);
/** @param {Attached} file @returns {file is Sized} */
const isPicture = (file) => file.kind === "picture" && isSized(file);

/**
 * A file rendered by `View`. Spoilers are covered.
 * @param {{View: typeof Openable | typeof Attachment, file: Attached, [more: string]: unknown}} props
 */
function Shown({ View, file, ...rest }) {
  if (!isSpoiler(file)) return html`<${View} file=${file} ...${rest} />`;
  return html`<${Covered} kind=${file.kind}>
    <${View} file=${{ ...file, name: shownName(file.name) }} ...${rest} />
  <//>`;
}

/**
 * An image that opens in the lightbox. If a message has several images, they are cropped to squares.
 * @param {{file: Sized, channelId?: string, all?: Attached[], alone: boolean}} props
 */
function Openable({ file, channelId, all, alone }) {
  const shown = file.thumbnail ? { ...file, url: file.thumbnail.url } : file;
  const open = (/** @type {MouseEvent} */ event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return; // The browser opens a tab.
    event.preventDefault();
    showDialog("lightbox", { channelId, fileId: file.id, pictures: all });
  };
  return html`<a class="openable" href=${file.url} target="_blank" rel="noopener noreferrer" onClick=${open}>
    ${
      alone
        ? html`<${Picture} picture=${shown} alt=${file.alt || file.name} />`
        : html`<img src=${shown.url} alt=${file.alt || file.name} loading="lazy" decoding="async" />`
    }
  </a>`;
}

/** @param {{file: Attached}} props */
function Attachment({ file }) {
  if (file.kind === "video" && isSized(file)) return html`<${Video} file=${file} />`;
  if (file.kind === "audio") return html`<${Sound} file=${file} />`;
  return html`<p class="file">
    <${Icon} name="file" />
    <a href=${file.url} download=${file.name} rel="noopener noreferrer" dir="auto">${file.name}</a> <span
      class="quiet"
    >
      ${sizeOf(file.bytes)}
    </span>
  </p>`;
}

/**
 * A stored image.
 * @param {{picture: Size & {url: string, placeholder: string}, alt?: string, room?: Room}} props
 */
export function Picture({ picture, alt = "", room }) {
  const [loaded, setLoaded] = useState(false);
  return html`<${Frame} size=${picture} placeholder=${picture.placeholder} room=${room} loaded=${loaded}>
    <img
      src=${picture.url}
      alt=${alt}
      width=${picture.width}
      height=${picture.height}
      loading="lazy"
      decoding="async"
      onLoad=${() => setLoaded(true)}
    />
  <//>`;
}

/** @param {{file: Sized}} props */
function Video({ file }) {
  return html`<${Frame} size=${file} placeholder=${file.placeholder} loaded=${true}>
    <video
      src=${file.url}
      poster=${file.poster?.url}
      controls
      preload="none"
      playsinline
      aria-label=${file.alt || file.name}
    ></video>
  <//>`;
}

/** @param {{file: Attached}} props */
function Sound({ file }) {
  return html`<figure class="sound">
    <figcaption dir="auto">${file.name} <span class="quiet">${sizeOf(file.bytes)}</span></figcaption>
    <audio
      src=${file.url}
      controls
      preload="metadata"
      aria-label=${file.name}
      onLoadedMetadata=${findLength}
    ></audio>
  </figure>`;
}

/**
 * Seek to the end of a recording to make the browser determine its duration, which MediaRecorder does not
 * write.
 * @param {Event} event
 */
function findLength({ currentTarget }) {
  const sound = /** @type {HTMLAudioElement} */ (currentTarget);
  if (sound.duration !== Infinity || !sound.paused) return;
  const back = () => {
    sound.currentTime = 0;
  };
  sound.addEventListener("durationchange", back, { once: true });
  sound.currentTime = Number.MAX_SAFE_INTEGER;
}

/**
 * A frame that reserves the space for a file of known size and shows its placeholder until it has loaded.
 * @param {{size: Size, placeholder: string, room?: Room, loaded: boolean, children: ComponentChildren}} props
 */
function Frame({ size: { width, height }, placeholder, room = {}, loaded, children }) {
  const { widest = WIDEST_PX, highest = HIGHEST_PX } = room;
  /** @type {RefObject<HTMLElement>} */
  const holder = useRef(null);
  useEffect(() => {
    /** @type {HTMLCanvasElement | null} */
    let before = null;
    let gone = false;
    if (placeholder)
      import("./blurhash.js").then(
        ({ blurred }) => {
          before = gone ? null : blurred(placeholder);
          if (before) holder.current.prepend(before);
        },
        () => {},
      );
    return () => {
      gone = true;
      before?.remove();
    };
  }, [placeholder]);
  const scale = Math.min(1, widest / width, highest / height);
  const style = {
    inlineSize: `${Math.max(1, Math.round(width * scale))}px`,
    aspectRatio: `${width} / ${height}`,
  };
  return html`<div class=${`frame ${loaded ? "loaded" : ""}`} style=${style} ref=${holder}>${children}</div>`;
}

/** Format a size in the user's language, such as "1.2 MB". @param {number} bytes */
export function sizeOf(bytes) {
  /** @type {[number, string]} */
  const [amount, unit] =
    bytes < 1000 ? [bytes, "byte"] : bytes < 1e6 ? [bytes / 1e3, "kilobyte"] : [bytes / 1e6, "megabyte"];
  return new Intl.NumberFormat(language(), {
    style: "unit",
    unit,
    unitDisplay: unit === "byte" ? "long" : "short",
    maximumFractionDigits: amount < 10 ? 1 : 0,
  }).format(amount);
}

/**
 * A spoiler file, covered until it is clicked. `kind` is the file's type.
 * @param {{kind: string, children: ComponentChildren}} props
 */
export function Covered({ kind, children }) {
  const [open, setOpen] = useState(false);
  /** @type {RefObject<HTMLElement>} */
  const box = useRef(null);
  // The focused button has disappeared, so move the focus to the content.
  useEffect(() => {
    if (open) box.current.querySelector("a, video, audio")?.focus();
  }, [open]);
  return html`<div class="covered" ref=${box}>
    <div inert=${!open}>${children}</div>
    ${!open && html`<${Cover} kind=${kind} onClick=${() => setOpen(true)} />`}
  </div>`;
}

/** The clickable cover of a spoiler. @param {{kind: string, onClick: () => void}} props */
export function Cover({ kind, onClick }) {
  return html`<button
    type="button"
    class="cover"
    aria-label=${t("spoiler-cover", { kind })}
    onClick=${onClick}
  >
    <span>${t("spoiler")}</span>
  </button>`;
}
