// Shows the quick switcher, which finds channels and members by a few letters of their names.

/**
 * @import { Channel, Member } from "../../types/api.js"
 * @import { RefObject } from "../../vendor/preact.js"
 *
 * @typedef {{key: string, name: string} & ({channel: Channel, member?: undefined} | {member: Member,
 *   channel?: undefined})} Result
 */

import { channels } from "../../state/channels.js";
import { fit, foldCase } from "../../state/name_search.js";
import { loadMembers, members } from "../../state/people.js";
import { closeDialogs, open, showDialog } from "../../state/navigation.js";
import { html, useLayoutEffect, useRef, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Avatar } from "../parts/avatar.js";
import { Dialog } from "../parts/dialog.js";
import { Icon } from "../parts/icon.js";

const MAX_RESULTS = 12;

/** @param {{onClose: () => void}} props */
export function Switcher({ onClose }) {
  const [wanted, setWanted] = useState("");
  const [at, setAt] = useState(0);
  /** @type {RefObject<HTMLInputElement>} */
  const input = useRef(null);
  useLayoutEffect(() => {
    input.current.focus();
    loadMembers().catch(() => {});
  }, []);
  const matches = results(wanted);
  const chosen = matches[Math.min(at, matches.length - 1)];
  const go = (/** @type {Result} */ result) => {
    closeDialogs();
    if (result.channel) open(result.channel.id);
    else showDialog("profile", { memberId: result.member.id });
  };
  const pressed = (/** @type {KeyboardEvent} */ event) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by && matches.length) {
      event.preventDefault();
      setAt((Math.min(at, matches.length - 1) + by + matches.length) % matches.length);
    } else if (event.key === "Enter" && chosen) {
      event.preventDefault();
      go(chosen);
    }
  };
  const typed = (/** @type {EventOn<HTMLInputElement>} */ event) => {
    setWanted(event.currentTarget.value);
    setAt(0);
  };
  return html`<${Dialog} title=${t("switcher-title")} onClose=${onClose} class="switcher">
    <input
      ref=${input}
      type="text"
      role="combobox"
      aria-label=${t("switcher-field")}
      aria-expanded="true"
      aria-controls="switcher-list"
      aria-activedescendant=${chosen ? `go-${chosen.key}` : undefined}
      placeholder=${t("switcher-field")}
      dir="auto"
      value=${wanted}
      autocomplete="off"
      spellcheck=${false}
      onInput=${typed}
      onKeyDown=${pressed}
    />
    <ul id="switcher-list" role="listbox" aria-label=${t("switcher-title")}>
      ${matches.map(
        (result) => html`<li
          key=${result.key}
          id=${`go-${result.key}`}
          role="option"
          aria-selected=${result === chosen}
          onClick=${() => go(result)}
        >
          ${
            result.channel
              ? html`<${Icon} name=${result.channel.type === "voice" ? "voice" : "hash"} />`
              : html`<${Avatar}
                  id=${result.member.id}
                  name=${result.name}
                  url=${result.member.avatar}
                  size="small"
                />`
          }
          <span dir="auto">${result.name}</span>
        </li>`,
      )}
    </ul>
    ${!matches.length && html`<p class="quiet">${t("nothing-found")}</p>`}
  <//>`;
}

/** @param {string} wanted @returns {Result[]} */
function results(wanted) {
  /** @type {Result[]} */
  const all = [
    ...channels.value
      .filter(({ type }) => type !== "category")
      .map((channel) => ({ key: channel.id, name: channel.name, channel })),
    ...(wanted
      ? [...members.value.values()].map((member) => ({ key: member.id, name: member.nickname, member }))
      : []),
  ];
  const letters = foldCase(wanted);
  return all
    .map((result) => ({ result, fits: fit(foldCase(result.name), letters) }))
    .filter(({ fits }) => fits >= 0)
    .sort((a, b) => a.fits - b.fits)
    .slice(0, MAX_RESULTS)
    .map(({ result }) => result);
}
