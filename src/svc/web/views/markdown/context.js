// Defines the server data that rendering a message requires, and resolves links within the server. Renders
// nothing.

/**
 * @typedef {object} Context
 * @property {string | null} [ownId] The member whose mentions are highlighted.
 * @property {Set<string>} [ownRoles] The roles whose mentions are also highlighted.
 * @property {Set<string>} [mentioned] The members, roles and groups that the server lists as mentioned. Other
 *   mentions are rendered as text.
 * @property {Map<string, {url: string}>} [emoji] The custom emoji by name.
 * @property {Map<string, {name: string, color?: string | null}>} [roles] The roles by id, with colours in CSS
 *   syntax.
 * @property {Map<string, {name: string}>} [channels] The channels by id.
 * @property {(id: string) => string | undefined} [members] Returns a member's current name.
 * @property {(id: string) => void} [onMention] Called with a member's id when the user clicks their mention.
 * @property {(id: string) => void} [onChannel] Called with a channel's id when the user clicks a link to it.
 * @property {(url: URL) => {words: string, go: () => void} | null} [locationOf] Returns the message on this
 *   server that a URL refers to, or null.
 */

/** @typedef {import("./parse.js").Node} Node */

/**
 * @typedef {{kind: "member" | "group" | "role" | "channel", id: string, name: string, known: boolean, own:
 *   boolean, color?: string | null}} Target
 */

const GROUPS = ["everyone", "here"];

/**
 * Return the target of a link within the server, or null for other links.
 * @param {Node} link
 * @param {Context} context
 * @returns {Target | null}
 */
export function targetOf({ href = "", children }, context) {
  const [scheme, id] = split(href);
  const label = wordsOf(children).replace(/^[@#]/u, "");
  const isKnown = context.mentioned?.has(id) ?? true;
  if (scheme === "mention" && GROUPS.includes(id))
    return { kind: "group", id, name: id, known: isKnown, own: isKnown };
  if (scheme === "mention") {
    if (!isKnown) return { kind: "member", id, name: label, known: false, own: false };
    const name = context.members?.(id);
    return {
      kind: "member",
      id,
      name: name ?? label,
      known: name !== undefined || !context.members,
      own: id === context.ownId,
    };
  }
  if (scheme === "role") {
    const role = context.roles?.get(id);
    return {
      kind: "role",
      id,
      name: role?.name ?? label,
      known: Boolean(role),
      own: isKnown && Boolean(context.ownRoles?.has(id)),
      color: role?.color,
    };
  }
  if (scheme !== "channel") return null;
  const channel = context.channels?.get(id);
  return { kind: "channel", id, name: channel?.name ?? label, known: Boolean(channel), own: false };
}

/** Return the text of a mention. @param {Target} target */
export const mentionText = ({ kind, name }) => (kind === "channel" ? "#" : "@") + name;

/** Return the nodes' text without formatting, on one line. @param {Node[]} nodes @returns {string} */
export function wordsOf(nodes) {
  return nodes
    .map((node) => {
      if (node.type === "break") return " ";
      if (node.type === "emoji") return `:${node.text}:`;
      return node.text ?? wordsOf(node.children);
    })
    .join("");
}

/** @param {string} href */
function split(href) {
  const colon = href.indexOf(":");
  return [href.slice(0, colon).toLowerCase(), href.slice(colon + 1)];
}
