// What comes into question while one writes "@", "#" or ":", above the field.

import { channels, may } from "../../state/channels.js";
import { candidates, complete, completing } from "../../state/completion.js";
import { emoji } from "../../state/emoji.js";
import { loadMembers, members, roles } from "../../state/people.js";
import { html, useEffect, useId, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Avatar } from "../parts/avatar.js";
import { Icon } from "../parts/icon.js";

let emojiFinder = null; // Of the emoji picker's catalogue, which is fetched when the first one is wanted.

/** What is offered at the caret: {asked, list, at}; `onKey` takes the keys that are for it and says so. */
export function useCompletion(field, channelId, put) {
  const id = useId();
  const [offer, setOffer] = useState(null);
  const [, again] = useState(0);
  const look = () => {
    const { value, selectionStart, selectionEnd } = field.current;
    const asked = selectionStart === selectionEnd ? completing(value, selectionStart) : null;
    if (!asked) {
      setOffer(null);
      return;
    }
    if (asked.sign === "@") loadMembers().catch(() => {});
    if (asked.sign === ":" && !emojiFinder) findEmojiLater(() => again((count) => count + 1));
    setOffer({ asked, at: 0 });
  };
  const list = offer ? candidates(offer.asked, sources(channelId)) : [];
  const at = offer && list.length ? Math.min(offer.at, list.length - 1) : 0;
  const choose = (chosen) => {
    const { text, caret } = complete(field.current.value, offer.asked, chosen);
    setOffer(null);
    put(text, caret);
  };
  const onKey = (event) => {
    if (!offer || !list.length) return false;
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by) setOffer({ ...offer, at: (at + by + list.length) % list.length });
    else if (event.key === "Enter" || event.key === "Tab") choose(list[at]);
    else if (event.key === "Escape") setOffer(null);
    else return false;
    event.preventDefault();
    return true;
  };
  return { id, list: offer ? list : [], at, choose, look, onKey, close: () => setOffer(null) };
}

function sources(channelId) {
  return {
    members: [...members.value.values()].map(({ id, nickname: name }) => ({ id, name })),
    roles: roles.value.filter(({ id }) => id !== "member"),
    channels: channels.value.filter(({ type }) => type === "text"),
    mayMentionGroups: may("mention_everyone", channelId),
    findEmoji: (prefix, limit) => emojiFinder?.(prefix, limit) ?? [],
  };
}

async function findEmojiLater(then) {
  const [{ find, load }, { remembered }] = await Promise.all([import("../emoji/catalogue.js"), import("../emoji/remembered.js")]);
  emojiFinder = (prefix, limit) => find(prefix, emoji.value, limit, remembered.value.tone);
  await load();
  then();
}

export function CompletionList({ completion: { id, list, at, choose } }) {
  const current = list[at];
  useEffect(() => { document.getElementById(`${id}-at`)?.scrollIntoView({ block: "nearest" }); }, [current?.id]);
  if (!list.length) return null;
  return html`<ul id=${id} class="completion" role="listbox" aria-label=${t("completion")}>${list.map((each, index) => html`<li key=${`${each.kind} ${each.id}`}
      id=${index === at ? `${id}-at` : undefined} role="option" aria-selected=${index === at}
      onPointerDown=${(event) => event.preventDefault()} onClick=${() => choose(each)}>
    <${Sign} each=${each} /><span dir="auto">${each.kind === "emoji" ? `:${each.name}:` : each.name}</span>
    ${(each.kind === "role" || each.kind === "group") && html`<small class="quiet">${t(`completion-${each.kind}`)}</small>`}
  </li>`)}</ul>`;
}

function Sign({ each: { kind, id, name, character, url } }) {
  if (kind === "member") return html`<${Avatar} id=${id} name=${name} url=${members.value.get(id)?.avatar} size="small" />`;
  if (kind === "emoji") return url ? html`<img class="emoji" src=${url} alt="" />` : html`<span class="emoji">${character}</span>`;
  return html`<${Icon} name=${kind === "channel" ? "hash" : "people"} />`;
}
