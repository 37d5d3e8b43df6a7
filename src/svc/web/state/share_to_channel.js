// Quotes a message to forward it and puts shared or forwarded content into the draft of a channel.

/** @import { Message } from "../types/api.js" */

import { draftOf, write } from "./drafts.js";
import { escaped, shortened } from "./mention_text.js";
import { addressOf, open } from "./navigation.js";
import { nameNow } from "./people.js";
import { shared } from "./shared_content.js";
import { uploadsOf } from "./uploads.js";

/** Add the content to this channel's draft. Return whether there was room for all files. @param {string}
 * channelId */
export function shareInto(channelId) {
  const { text, files } = shared.value ?? { text: "", files: [] };
  const before = draftOf(channelId).text.value;
  open(channelId);
  if (text) write(channelId, before ? `${before}\n${text}` : text);
  shared.value = null;
  return !files.length || uploadsOf(channelId).add(files);
}

/**
 * Ask for a channel in which to quote a message, with a link to it. The quote mentions nobody.
 * @param {Message} message
 */
export function forward({ author, text, channel_id: channelId, id }) {
  /** @type {Map<string, string>} */
  const names = new Map();
  const short = shortened(text, names);
  // Without this, the field would turn known names into mentions again.
  const plain = [...names.keys()].reduce((now, name) => now.replaceAll(name, `\\${name}`), short);
  const lines = [`**${escaped(nameNow(author))}**`, ...plain.split("\n").filter((line, at) => at || line)];
  shared.value = {
    text: `${lines.map((line) => `> ${line}`).join("\n")}\n${addressOf(channelId, id)}`,
    files: [],
  };
}
