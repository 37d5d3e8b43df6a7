// Shows the settings for the appearance and the language.

import { setAppearance, appearance, TEXT_SIZES } from "../../state/appearance.js";
import { keepSettings } from "../../state/browser_history.js";
import { html } from "../../vendor/preact.js";
import { chooseLanguage, chosenLanguage, LANGUAGES, t } from "../../words/words.js";
import { Choice, Switch } from "../parts/field.js";

export function LookPage() {
  const { theme, motion, density, textSize, emoticons } = appearance.value;
  const speak = (/** @type {EventOn<HTMLSelectElement>} */ event) => {
    chooseLanguage(event.currentTarget.value || null);
    keepSettings();
    location.reload();
  };
  return html`
    <${Choice}
      label=${t("theme")}
      value=${theme}
      onChange=${(/** @type {string} */ value) => setAppearance({ theme: value })}
      options=${["system", "light", "dark"].map((value) => ({ value, label: t(`theme-${value}`) }))}
    />
    <${Choice}
      label=${t("motion")}
      value=${motion}
      onChange=${(/** @type {string} */ value) => setAppearance({ motion: value })}
      options=${["system", "reduced"].map((value) => ({ value, label: t(`motion-${value}`) }))}
    />
    <${Choice}
      label=${t("density")}
      value=${density}
      onChange=${(/** @type {string} */ value) => setAppearance({ density: value })}
      options=${["cosy", "compact"].map((value) => ({ value, label: t(`density-${value}`) }))}
    />
    <label class="field">
      ${t("text-size")}
      <select
        value=${textSize}
        onChange=${(/** @type {EventOn<HTMLSelectElement>} */ event) =>
          setAppearance({ textSize: Number(event.currentTarget.value) })}
      >
        ${TEXT_SIZES.map(
          (size) => html`<option key=${size} value=${size} selected=${size === textSize}>${size} %</option>`,
        )}
      </select>
    </label>
    <${Switch}
      label=${t("emoticons")}
      hint=${t("emoticons-hint")}
      checked=${emoticons}
      onChange=${(/** @type {boolean} */ value) => setAppearance({ emoticons: value })}
    />
    <label class="field">
      ${t("language")}
      <select onChange=${speak}>
        <option value="" selected=${!chosenLanguage()}>${t("language-browser")}</option>
        ${Object.entries(LANGUAGES).map(
          ([name, own]) =>
            html`<option key=${name} value=${name} selected=${name === chosenLanguage()} lang=${name}>
              ${own}
            </option>`,
        )}
      </select>
    </label>
  `;
}
