// Making elements. Texts only ever become text: there is no way from here to HTML. Knows nothing of
// what is shown.

const SVG = "http://www.w3.org/2000/svg";

/** An element with these properties, or attributes where it has no such property; null children are left out. */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** One of the symbols in index.html. */
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `#icon-${name}`);
  svg.append(use);
  return svg;
}

/** The address if a browser may follow it from a message, null otherwise: http and https alone. */
export function webAddress(text) {
  try {
    const url = new URL(text);
    return url.protocol === "https:" || url.protocol === "http:" ? url.href : null;
  } catch {
    return null;
  }
}

/** A link out of the page, which tells the other side nothing of us; the children alone where it leads nowhere. */
export function link(address, properties, ...children) {
  const href = webAddress(address);
  if (href === null) return make("span", properties, ...children);
  return make("a", { ...properties, href, target: "_blank", rel: "noopener noreferrer" }, ...children);
}
