// Pictures, videos and other files in messages. Each takes the room that it will need before it is
// loaded, so that nothing jumps. Everything comes from our own server, by the addresses it gives.

import { blurred } from "./blurhash.js";
import { make } from "./dom.js";

const WIDEST_PX = 420;
const HIGHEST_PX = 320;

/** A stored picture: {url, width, height, placeholder}. `room` is how large it may become. */
export function picture({ url, width, height, placeholder }, alt, room = {}) {
  const image = make("img", { src: url, alt, width, height, loading: "lazy", decoding: "async" });
  const frame = framed(image, { width, height }, placeholder, room);
  image.addEventListener("load", () => frame.classList.add("loaded"), { once: true });
  return frame;
}

/** What hangs on a message. */
export function attachment(file) {
  const kind = file.content_type.split("/")[0];
  if (kind === "image" && file.width) return openable(file, picture(file.thumbnail ? { ...file, url: file.thumbnail.url } : file, file.alt || file.name));
  if (kind === "video" && file.width) return video(file);
  const name = make("a", { href: file.url, download: file.name, rel: "noopener noreferrer", textContent: file.name });
  return make("p", { className: "file" }, name, ` ${readableSize(file.bytes)}`);
}

function openable({ url }, shown) {
  return make("a", { href: url, target: "_blank", rel: "noopener noreferrer", className: "openable" }, shown);
}

function video({ url, width, height, placeholder, poster, alt, name }) {
  const player = make("video", { src: url, controls: true, preload: "none", playsInline: true, "aria-label": alt || name });
  if (poster) player.poster = poster.url;
  return framed(player, { width, height }, placeholder, {});
}

function framed(content, { width, height }, placeholder, { widest = WIDEST_PX, highest = HIGHEST_PX }) {
  const scale = Math.min(1, widest / width, highest / height);
  const frame = make("div", { className: "frame" });
  frame.style.width = `${Math.max(1, Math.round(width * scale))}px`;
  frame.style.aspectRatio = `${width} / ${height}`;
  const before = placeholder ? blurred(placeholder) : null;
  if (before) frame.append(before);
  frame.append(content);
  return frame;
}

export function readableSize(bytes) {
  if (bytes < 1024) return `${bytes} bytes`;
  const [amount, unit] = bytes < 1024 ** 2 ? [bytes / 1024, "KiB"] : [bytes / 1024 ** 2, "MiB"];
  return `${amount.toFixed(amount < 10 ? 1 : 0)} ${unit}`;
}
