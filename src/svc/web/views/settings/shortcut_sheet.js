// Shows the list of keyboard shortcuts.

import { FORMATS } from "../../state/markdown_formatting.js";
import { html } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Dialog } from "../parts/dialog.js";
import { SHORTCUTS } from "../shortcuts.js";

const IN_PLACE = [
  { keys: "Enter", words: "shortcut-send" },
  { keys: "Shift+Enter", words: "shortcut-new-line" },
  { keys: "ArrowUp", words: "shortcut-edit-last" },
  { keys: "PageUp", words: "shortcut-page" },
  { keys: "Escape", words: "shortcut-read" },
  ...FORMATS.map(({ key, shift, words }) => ({
    keys: `Ctrl+${shift ? "Shift+" : ""}${key.toUpperCase()}`,
    words,
  })),
];

const IN_CALLS = new Set(["shortcut-mute", "shortcut-deafen", "shortcut-camera", "shortcut-hand"]);
const GROUPS = [
  { title: "messages", shortcuts: IN_PLACE },
  { title: "channels", shortcuts: SHORTCUTS.filter(({ words }) => !IN_CALLS.has(words)) },
  { title: "settings-voice", shortcuts: SHORTCUTS.filter(({ words }) => IN_CALLS.has(words)) },
];

/** @param {{onClose: () => void}} props */
export function Shortcuts({ onClose }) {
  return html`<${Dialog} title=${t("shortcuts")} onClose=${onClose}>
    ${GROUPS.map(
      ({ title, shortcuts }) =>
        html`<section key=${title}>
          <h3 class="settings-heading">${t(title)}</h3>
          <dl class="shortcuts">
            ${shortcuts.map(
              ({ keys, words }) =>
                html`<div key=${words}>
                  <dt>${keys.split("+").map((key) => html`<kbd key=${key}>${keyName(key)}</kbd>`)}</dt>
                  <dd>${t(words)}</dd>
                </div>`,
            )}
          </dl>
        </section>`,
    )}
  <//>`;
}

const keyName = (/** @type {string} */ key) =>
  /** @type {{[key: string]: string}} */ ({ ArrowUp: "↑", ArrowDown: "↓" })[key] ?? key;
