// Finds the elements and text that components render, without a DOM.

/** Return the name and props of every rendered element, outermost first. */
export function elements(vnode) {
  if (Array.isArray(vnode)) return vnode.flatMap(elements);
  if (!vnode || typeof vnode !== "object") return [];
  const name = typeof vnode.type === "function" ? vnode.type.name : vnode.type;
  return [{ name, props: vnode.props }, ...elements(vnode.props.children)];
}

/** Return the visible text. */
export function textOf(vnode) {
  if (Array.isArray(vnode)) return vnode.map(textOf).join("");
  if (vnode === null || vnode === undefined || typeof vnode === "boolean") return "";
  if (typeof vnode !== "object") return String(vnode);
  if (vnode.type === "img") return vnode.props.alt;
  return vnode.props.code ?? textOf(vnode.props.children);
}
