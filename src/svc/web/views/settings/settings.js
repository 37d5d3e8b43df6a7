// Shows the settings: a search field and a grouped list of pages, with the open page next to it. On a phone,
// the list is collapsible.

/** @import { RefObject } from "../../vendor/preact.js" */
/** @import { SettingsPage } from "./pages.js" */

import { foldCase } from "../../state/name_search.js";
import { html, useLayoutEffect, useRef, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { IconButton } from "../parts/button.js";
import { Dialog } from "../parts/dialog.js";
import { Icon } from "../parts/icon.js";
import { Layer, moveAmong } from "../parts/menu.js";
import { PAGES } from "./pages.js";

/** @param {{page?: string, onClose: () => void}} props */
export function Settings({ page = "profile", onClose }) {
  const [open, setOpen] = useState(page);
  const [unfolded, setUnfolded] = useState(false);
  const [wanted, setWanted] = useState("");
  const shown = PAGES.filter(({ hasPermission }) => !hasPermission || hasPermission());
  const { Page, name } = shown.find((settingsPage) => settingsPage.name === open) ?? shown[0];
  const results = matchingPages(shown, wanted);
  /** @type {RefObject<HTMLElement>} */
  const list = useRef(null);
  useLayoutEffect(() => {
    list.current.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [name, unfolded]);
  const buttons = () => /** @type {HTMLElement[]} */ ([...list.current.querySelectorAll("li button")]);
  const go = (/** @type {string} */ chosen) => {
    setOpen(chosen);
    setUnfolded(false);
  };
  const pressed = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Enter" && wanted && results.length) go(results[0].page.name);
    else if (event.key === "ArrowDown") {
      event.preventDefault();
      buttons()[0]?.focus();
    }
  };
  return html`<${Dialog} title=${t("settings")} onClose=${onClose} wide class="settings">
    <div class="settings-pages">
      <nav aria-label=${t("settings-pages")} class=${unfolded ? "unfolded" : ""}>
        <input
          type="search"
          aria-label=${t("settings-find")}
          placeholder=${t("settings-find")}
          value=${wanted}
          onInput=${(/** @type {EventOn<HTMLInputElement>} */ event) => setWanted(event.currentTarget.value)}
          onKeyDown=${pressed}
        />
        <ul ref=${list} onKeyDown=${(/** @type {KeyboardEvent} */ event) => moveAmong(event, buttons())}>
          ${results.map(
            ({ page: settingsPage, match }, index) => html`
              ${
                settingsPage.group !== results[index - 1]?.page.group &&
                html`<li key=${settingsPage.group} class="settings-heading" aria-hidden="true">
                  ${t(`settings-group-${settingsPage.group}`)}
                </li>`
              }
              <li key=${settingsPage.name}>
                <button
                  type="button"
                  aria-current=${settingsPage.name === name ? "page" : undefined}
                  onClick=${() => go(settingsPage.name)}
                >
                  <${Icon} name=${settingsPage.icon} />
                  <span>${t(`settings-${settingsPage.name}`)}${match && html`<small>${match}</small>`}</span>
                </button>
              </li>
            `,
          )}
        </ul>
        ${!results.length && html`<p class="quiet" role="status">${t("nothing-found")}</p>`}
        <${IconButton}
          icon="menu"
          label=${t("settings-all")}
          class="unfold"
          aria-expanded=${unfolded}
          onClick=${() => setUnfolded(!unfolded)}
        />
        ${unfolded && html`<${Layer} onClose=${() => setUnfolded(false)} />`}
      </nav>
      <section aria-label=${t(`settings-${name}`)} class="settings-page" tabindex="-1">
        <h3>${t(`settings-${name}`)}</h3>
        <${Page} key=${name} onClose=${onClose} onPage=${setOpen} />
      </section>
    </div>
  <//>`;
}

/**
 * Return the pages with this text in their name or in the name of a setting, each with the matching name.
 * @param {SettingsPage[]} pages @param {string} wanted
 */
function matchingPages(pages, wanted) {
  const letters = foldCase(wanted.trim());
  const has = (/** @type {string} */ text) => foldCase(text).includes(letters);
  return pages
    .map((page) => {
      const match = letters && !has(t(`settings-${page.name}`)) ? page.words().find(has) : "";
      return { page, match };
    })
    .filter(({ match }) => match !== undefined);
}
