// The skin tone of emoji that have one.

import { html, useId } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { TONES } from "./emoji_catalogue.js";

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
