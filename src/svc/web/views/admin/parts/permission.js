// Renders a permission with its description and a control: a switch for a role, or three choices for an
// override.

/** @import { Word } from "../../../state/admin/permissions.js" */
/** @import { Permission } from "../../../types/wire.js" */

import { html, useId } from "../../../vendor/preact.js";
import { t } from "../../../words/words.js";
import { Switch } from "../../parts/field.js";

const dashed = (/** @type {Permission} */ name) => name.replaceAll("_", "-");
/** @param {Permission} name */
export const permissionName = (name) => t(`permission-${dashed(name)}`);
/** @param {Permission} name */
export const permissionAbout = (name) => t(`permits-${dashed(name)}`);

/** @param {{name: Permission, checked: boolean, disabled: boolean, onChange: (on: boolean) => void}} props */
export function PermissionSwitch({ name, ...rest }) {
  return html`<${Switch} label=${permissionName(name)} hint=${permissionAbout(name)} ...${rest} />`;
}

/** @type {{word: Word, sign: string}[]} */
const WORDS = [
  { word: "deny", sign: "✕" },
  { word: "neutral", sign: "–" },
  { word: "allow", sign: "✓" },
];

/**
 * `result` is whether the permission is granted in effect.
 * @param {{name: Permission, value: Word, result: boolean, disabled: boolean, onChange: (word: Word) =>
 *   void}} props
 */
export function PermissionChoice({ name, value, result, disabled, onChange }) {
  const id = useId();
  return html`<fieldset class="three-way" disabled=${disabled}>
    <legend>${permissionName(name)}<small class="quiet">${permissionAbout(name)}</small></legend>
    <span class="three">${WORDS.map(
      ({ word, sign }) => html`<label key=${word} class=${word} title=${t(`override-${word}`)}>
        <input
          type="radio"
          name=${id}
          value=${word}
          checked=${word === value}
          onChange=${() => onChange(word)}
          aria-label=${t(`override-${word}`)}
        />
        <span aria-hidden="true">${sign}</span>
      </label>`,
    )}</span>
    <small class=${`outcome ${result ? "may" : "may-not"}`}>
      ${result ? t("outcome-may") : t("outcome-may-not")}
    </small>
  </fieldset>`;
}
