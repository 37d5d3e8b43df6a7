// Computes the order of the channel list and the positions to which a channel can move.
// state/admin/channel_moves.js performs the move.

/** @import { Channel } from "../../types/api.js" */

/**
 * @typedef {{channels: Channel[]} & ({kind: "category", category: Channel} | {kind: "text" | "voice",
 *   category: null})} Section
 * @typedef {{parentId: string | null, beforeId: string | null}} Where The category, if any, and the channel
 *   that follows; null means the end.
 */

/**
 * Return the sections of the list in order: text channels without a category, voice channels without a
 * category, then each category. `all` is sorted by position.
 * @param {Channel[]} all @returns {Section[]}
 */
export function sectionsOf(all) {
  const categories = all.filter(({ type }) => type === "category");
  const known = new Set(categories.map(({ id }) => id));
  const loose = all.filter(({ type, parent_id: parent }) => type !== "category" && !known.has(parent ?? ""));
  return [
    { kind: "text", category: null, channels: loose.filter(({ type }) => type === "text") },
    { kind: "voice", category: null, channels: loose.filter(({ type }) => type === "voice") },
    ...categories.map((category) => ({
      kind: /** @type {const} */ ("category"),
      category,
      channels: all.filter(({ type, parent_id: parent }) => type !== "category" && parent === category.id),
    })),
  ];
}

/** Return the channel with this id, which must exist. @param {Channel[]} all @param {string} id */
export const channelIn = (all, id) => /** @type {Channel} */ (all.find((channel) => channel.id === id));

/**
 * Return the new position of a channel that was dropped on another channel or on a category's heading.
 * @param {Channel[]} all
 * @param {string} id
 * @param {Channel} onto
 * @param {boolean} after
 * @returns {Where | null}
 */
export function dropped(all, id, onto, after) {
  const channel = channelIn(all, id);
  const sections = sectionsOf(all);
  if (channel.type === "category") {
    const categories = sections.flatMap(({ category }) => category ?? []);
    const over =
      onto.type === "category" ? onto : categories.find((category) => category.id === onto.parent_id);
    if (!over) return null;
    return { parentId: null, beforeId: after ? following(categories, over.id) : over.id };
  }
  if (onto.type === "category")
    return {
      parentId: onto.id,
      beforeId:
        sections
          .find(({ category }) => category?.id === onto.id)
          ?.channels.find((channel) => channel.id !== id)?.id ?? null,
    };
  const section = sections.find(({ channels }) => channels.includes(onto));
  return {
    parentId: onto.parent_id ?? null,
    beforeId: after
      ? following(
          (section?.channels ?? []).filter((channel) => channel.id !== id),
          onto.id,
        )
      : onto.id,
  };
}

/**
 * Return the position above (-1) or below (1) a channel's current position; null if there is none.
 * @param {Channel[]} all
 * @param {string} id
 * @param {1 | -1} by
 * @returns {Where | null}
 */
export function stepped(all, id, by) {
  const sections = sectionsOf(all);
  const channel = channelIn(all, id);
  if (channel.type === "category") {
    const categories = sections.flatMap(({ category }) => category ?? []);
    const onto = categories[categories.indexOf(channel) + by];
    return onto ? dropped(all, id, onto, by > 0) : null;
  }
  const at = sections.findIndex(({ channels }) => channels.includes(channel));
  const { channels } = sections[at];
  const onto = channels[channels.indexOf(channel) + by];
  if (onto) return dropped(all, id, onto, by > 0);
  const own = sections.findIndex(({ kind }) => kind === channel.type);
  // Between the uncategorised channels and the first category, skip the other kind of channel.
  const next = at < 2 ? (by > 0 ? 2 : -1) : at + by < 2 ? own : at + by;
  const section = sections[next];
  if (!section) return null;
  return {
    parentId: section.category?.id ?? null,
    beforeId: by > 0 ? (section.channels[0]?.id ?? null) : null,
  };
}

/** @param {Channel[]} list @param {string} id */
function following(list, id) {
  return list[list.findIndex((channel) => channel.id === id) + 1]?.id ?? null;
}
