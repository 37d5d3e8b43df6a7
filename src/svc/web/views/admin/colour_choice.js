// Renders a choice of colour for a role or card: a few easily distinguished colours, any other, or none.

import { colourOf } from "../../state/people.js";
import { html, useId } from "../../vendor/preact.js";
import { t } from "../../words/words.js";

const COLOURS = [0x0f9d8a, 0x2f7fd1, 0x7a5cd6, 0xc2479c, 0xd1495b, 0xd97a1c, 0xb09a10, 0x4f9a3a, 0x6b7c85];

/**
 * Colours are numbers from 0 to 0xffffff.
 * @param {{value: number | null, onChange: (colour: number | null) => void, label?: string}} props
 */
export function ColourChoice({ value, onChange, label: legend = t("role-colour") }) {
  const name = useId();
  const other = value !== null && !COLOURS.includes(value);
  const typed = (/** @type {EventOn<HTMLInputElement>} */ event) =>
    onChange(parseInt(event.currentTarget.value.slice(1), 16));
  const swatch = (/** @type {number | null} */ colour) => {
    const label = colour === null ? t("colour-none") : colourOf({ color: colour });
    return html`<label key=${label} class="swatch-choice" title=${label}>
      <input
        type="radio"
        name=${name}
        checked=${value === colour}
        onChange=${() => onChange(colour)}
        aria-label=${label}
      />
      <span class="swatch" style=${{ "--role": colour === null ? null : label }}></span>
    </label>`;
  };
  return html`<fieldset class="colours">
    <legend>${legend}</legend>
    <div>
      ${[null, ...COLOURS].map(swatch)}
      <label class="swatch-choice own" data-chosen=${other} title=${t("colour-own")}>
        <input
          type="color"
          value=${colourOf({ color: value ?? 0x888888 })}
          onInput=${typed}
          aria-label=${t("colour-own")}
        />
      </label>
    </div>
  </fieldset>`;
}
