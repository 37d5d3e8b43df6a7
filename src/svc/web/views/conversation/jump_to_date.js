// Renders a form with a date picker for jumping to a day in a channel's history.

/** @import { RefObject } from "../../vendor/preact.js" */

import { openAt } from "../../state/navigation.js";
import { html, useRef, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Button } from "../parts/button.js";
import { Dialog } from "../parts/dialog.js";
import { Field } from "../parts/field.js";
import { beginningOf, dayName } from "../parts/time.js";

/**
 * `atMs` is a time on the initially selected day.
 * @param {{channelId: string, atMs?: number, onClose: () => void}} props
 */
export function Jump({ channelId, atMs = Date.now(), onClose }) {
  /** @type {RefObject<FormWith<"day">>} */
  const form = useRef(null);
  const [problem, setProblem] = useState("");
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    const moment = beginningOf(form.current.elements.day.value);
    if (moment === null) {
      setProblem(t("date-missing"));
      return;
    }
    onClose();
    openAt(channelId, moment);
  };
  return html`<${Dialog} title=${t("jump-to-date")} onClose=${onClose}>
    <form class="stack" ref=${form} onSubmit=${submit} novalidate>
      <${Field}
        label=${t("date")}
        hint=${t("jump-hint")}
        name="day"
        type="date"
        dir=${undefined}
        defaultValue=${dayName(atMs)}
        max=${dayName(Date.now())}
        autofocus
        problem=${problem}
      />
      <footer class="buttons">
        <${Button} onClick=${onClose}>${t("cancel")}<//>
        <${Button} look="primary" type="submit">${t("jump")}<//>
      </footer>
    </form>
  <//>`;
}
