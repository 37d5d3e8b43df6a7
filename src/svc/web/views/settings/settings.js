// The settings: a list of pages at the side, the open page next to it. On a phone the list unfolds.

/** @import { RefObject } from "../../vendor/preact.js" */

import { info } from "../../state/server.js";
import { html, useLayoutEffect, useRef, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { IconButton } from "../parts/button.js";
import { Dialog } from "../parts/dialog.js";
import { moveAmong } from "../parts/menu.js";
import { PAGES } from "./pages.js";

/** @param {{page?: string, onClose: () => void}} props */
export function Settings({ page = "profile", onClose }) {
  const [open, setOpen] = useState(page);
  const [unfolded, setUnfolded] = useState(false);
  const shown = PAGES.filter(({ may }) => !may || may());
  const firstShared = shown.findIndex(({ may }) => may);
  const { Page, name } = shown.find((each) => each.name === open) ?? shown[0];
  /** @type {RefObject<HTMLElement>} */
  const list = useRef(null);
  useLayoutEffect(() => {
    list.current.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [name, unfolded]);
  const move = (/** @type {EventOn<HTMLElement, KeyboardEvent>} */ event) =>
    moveAmong(event, /** @type {HTMLElement[]} */ ([...event.currentTarget.querySelectorAll("li button")]));
  return html`<${Dialog} title=${t("settings")} onClose=${onClose} wide class="settings">
    <div class="settings-pages">
      <nav aria-label=${t("settings-pages")} class=${unfolded ? "unfolded" : ""} onKeyDown=${move}>
        <ul ref=${list}>${shown.map(
          (each, place) => html`
            ${
              place === firstShared &&
              html`<li key="shared" class="settings-heading" aria-hidden="true">
                <span dir="auto">${info.value?.name || t("settings-shared")}</span>
              </li>`
            }
            <li key=${each.name}>
              <button
                type="button"
                aria-current=${each.name === name ? "page" : undefined}
                onClick=${() => {
                  setOpen(each.name);
                  setUnfolded(false);
                }}
              >
                ${t(`settings-${each.name}`)}
              </button>
            </li>
          `,
        )}</ul>
        <${IconButton}
          icon="menu"
          label=${t("settings-all")}
          class="unfold"
          aria-expanded=${unfolded}
          onClick=${() => setUnfolded(!unfolded)}
        />
      </nav>
      <section aria-label=${t(`settings-${name}`)} class="settings-page">
        <h3>${t(`settings-${name}`)}</h3>
        <${Page} key=${name} onClose=${onClose} onPage=${setOpen} />
      </section>
    </div>
  <//>`;
}
