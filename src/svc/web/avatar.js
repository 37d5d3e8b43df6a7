// Somebody's picture, or their initials on a colour of their own. Knows nobody.

/** Fill `element` with the picture at `url`, or with initials. */
export function portray(element, { id, name, url }) {
  element.setAttribute("aria-hidden", "true");
  element.style.setProperty("--hue", hue(id));
  element.textContent = url ? "" : initials(name);
  if (url) element.append(Object.assign(document.createElement("img"), { src: url, alt: "", width: 40, height: 40, loading: "lazy" }));
  return element;
}

export function initials(nickname) {
  const words = nickname.match(/[\p{L}\p{N}]+/gu) ?? ["?"];
  const ends = words.length > 1 ? [words[0], words.at(-1)] : [words[0]];
  return ends.map((word) => [...word][0]).join("").toUpperCase();
}

/** The same colour for the same person on every page. */
export function hue(id) {
  let sum = 0;
  for (const letter of id) sum = (sum * 31 + letter.codePointAt(0)) % 360;
  return sum;
}
