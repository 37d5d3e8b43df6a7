// Renders the emoji picker: a search field, the recently used emoji, and all emoji by category. Custom emoji
// come before standard emoji.

import { html, useEffect, useId, useMemo, useRef, useSignal, useState } from "../../vendor/preact.js";
import { catalogue, failed, GROUPS, inTone, load, ownItems, search, TONES } from "./emoji_catalogue.js";
import { Grid } from "./grid.js";
import { chooseTone, remembered, used } from "./recent_emoji.js";
import { t } from "../../words/words.js";

/** @typedef {import("./emoji_catalogue.js").Item} Item */
/** @typedef {import("./emoji_catalogue.js").ServerEmoji} ServerEmoji */
/** @typedef {import("./rows.js").Section} Section */

/** @type {Record<string, string>} */
const FACES = {
  recent: "🕘",
  own: "⭐",
  0: "😀",
  1: "👋",
  3: "🐻",
  4: "🍎",
  5: "🚗",
  6: "⚽",
  7: "💡",
  8: "🔣",
  9: "🏁",
};

/**
 * `onChoose` receives a character or `:name:`. The caller closes the picker.
 * @param {{serverEmoji: ServerEmoji, onChoose: (sign: string) => void, onClose: () => void}} properties
 */
export function EmojiPicker({ serverEmoji, onChoose, onClose }) {
  const root = useRef(/** @type {HTMLElement | null} */ (null));
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  const [query, setQuery] = useState("");
  const [goTo, setGoTo] = useState(/** @type {{section: string} | null} */ (null));
  const [entered, setEntered] = useState(/** @type {object | null} */ (null));
  const met = useSignal("");
  const all = catalogue.value;
  const { tone } = remembered.value;
  // A chosen emoji moves to the front only when the picker is next opened. Otherwise, emoji would move under
  // the pointer.
  const recent = useMemo(() => remembered.value.recent, []);
  const sections = useMemo(
    () => sectionsOf(query, serverEmoji, all ?? [], recent),
    [query, serverEmoji, all],
  );
  useEffect(() => {
    load();
    // On a phone, focusing the field would open the keyboard over the emoji.
    (matchMedia("(pointer: fine)").matches ? field : root).current?.focus();
  }, []);
  useEffect(() => {
    const elsewhere = (/** @type {PointerEvent} */ event) => {
      if (!isOurs(root.current, event.target)) onClose();
    };
    document.addEventListener("pointerdown", elsewhere);
    return () => document.removeEventListener("pointerdown", elsewhere);
  }, [onClose]);

  const choose = (/** @type {Item | undefined} */ item) => {
    if (!item) return;
    const sign = inTone(item, tone);
    used(sign);
    onChoose(sign);
  };
  const pressed = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    onClose();
  };
  const inField = (/** @type {KeyboardEvent} */ event) => {
    if (!["Enter", "ArrowDown"].includes(event.key)) return;
    event.preventDefault();
    if (event.key === "ArrowDown") setEntered({});
    else if (query.trim()) choose(sections[0]?.items[0]);
  };
  return html`<div
    class="emoji-picker"
    role="dialog"
    aria-label=${t("emoji-picker")}
    tabindex="-1"
    ref=${root}
    onKeyDown=${pressed}
  >
    <input
      type="search"
      ref=${field}
      value=${query}
      dir="auto"
      aria-label=${t("emoji-search")}
      placeholder=${t("emoji-search")}
      autocomplete="off"
      spellcheck=${false}
      onInput=${() => setQuery(field.current?.value ?? "")}
      onKeyDown=${inField}
    />
    ${
      !query.trim() &&
      html`<${Categories}
        sections=${sections}
        onGo=${(/** @type {string} */ section) => setGoTo({ section })}
      />`
    }
    <${State} empty=${!sections.length} />
    <${Grid}
      sections=${sections}
      tone=${tone}
      goTo=${goTo}
      entered=${entered}
      onChoose=${choose}
      onMeet=${(/** @type {Item | null} */ item) => {
        met.value = item ? describe(item) : "";
      }}
      onLeave=${() => field.current?.focus()}
    />
    <footer>
      <span class="emoji-met" dir="auto" aria-hidden="true">${met}</span>
      <${Tones} tone=${tone} onChoose=${chooseTone} />
    </footer>
  </div>`;
}

/**
 * The buttons that scroll to a section.
 * @param {{sections: Section[], onGo: (section: string) => void}} properties
 */
function Categories({ sections, onGo }) {
  const row = useRef(/** @type {HTMLElement | null} */ (null));
  const [at, setAt] = useState(0);
  const pressed = (/** @type {KeyboardEvent} */ event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step || !row.current) return;
    event.preventDefault();
    const rightToLeft = getComputedStyle(row.current).direction === "rtl";
    const next = (at + (rightToLeft ? -step : step) + sections.length) % sections.length;
    setAt(next);
    /** @type {HTMLElement} */ (row.current.children[next]).focus();
  };
  return html`<div
    class="emoji-categories"
    role="toolbar"
    aria-label=${t("emoji-categories")}
    ref=${row}
    onKeyDown=${pressed}
  >
    ${sections.map(
      ({ id, label }, index) => html`<button
        type="button"
        key=${id}
        title=${label}
        aria-label=${label}
        tabindex=${index === Math.min(at, sections.length - 1) ? 0 : -1}
        onClick=${() => {
          setAt(index);
          onGo(id);
        }}
      >
        ${FACES[id]}
      </button>`,
    )}
  </div>`;
}

/**
 * The text that is shown instead of emoji: no matches, loading, or failed.
 * @param {{empty: boolean}} properties
 */
function State({ empty }) {
  if (failed.value)
    return html`<p class="emoji-state" role="status">
      ${t("emoji-failed")} <button type="button" onClick=${() => load()}>${t("emoji-again")}</button>
    </p>`;
  const words = catalogue.value ? empty && t("emoji-none") : t("emoji-loading");
  return html`<p class="emoji-state" role="status">${words}</p>`;
}

/**
 * @param {string} query
 * @param {ServerEmoji} serverEmoji
 * @param {Item[]} all
 * @param {string[]} recent
 * @returns {Section[]}
 */
function sectionsOf(query, serverEmoji, all, recent) {
  const own = ownItems(serverEmoji);
  if (query.trim()) {
    const items = search(query, own, all);
    return items.length ? [{ id: "found", label: t("emoji-found"), items }] : [];
  }
  const known = new Map(own.map((item) => [item.sign, item]));
  for (const { label, name, sign } of all) known.set(sign, { label, name, sign });
  const last = recent
    .map((sign) => known.get(sign) ?? (sign.startsWith(":") ? null : { sign, label: sign, name: "" }))
    .filter((item) => item !== null);
  const groups = GROUPS.map((group) => ({
    id: String(group),
    label: t(`emoji-group-${group}`),
    items: all.filter((item) => item.group === group),
  }));
  return [
    { id: "recent", label: t("emoji-recent"), items: last },
    { id: "own", label: t("emoji-own"), items: own },
    ...groups,
  ].filter(({ items }) => items.length);
}

/** @param {Item} item */
const describe = ({ label, name, url }) => (url || !name ? label : `${label} :${name}:`);

/**
 * Return whether an event's target is in the picker or in its button. The button closes the picker itself.
 * @param {HTMLElement | null} root
 * @param {EventTarget | null} target
 */
const isOurs = (root, target) =>
  target instanceof Element && (root?.contains(target) || Boolean(target.closest('[aria-expanded="true"]')));

const HAND = "✋";

/** @param {{tone: number, onChoose: (tone: number) => void}} properties */
export function Tones({ tone, onChoose }) {
  const name = useId();
  return html`<fieldset class="emoji-tones">
    <legend>${t("emoji-tone")}</legend>
    ${TONES.map(
      (sign, index) => html`<label key=${index} title=${t(`emoji-tone-${index}`)}>
        <input
          type="radio"
          name=${name}
          checked=${index === tone}
          aria-label=${t(`emoji-tone-${index}`)}
          onChange=${() => onChoose(index)}
        />
        <span aria-hidden="true">${HAND + sign}</span>
      </label>`,
    )}
  </fieldset>`;
}
