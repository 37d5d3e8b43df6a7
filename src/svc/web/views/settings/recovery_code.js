// Shows recovery codes: a member's own code, for signing in after losing all devices, and codes that the
// owner creates for members who have already lost all devices. A code is shown only once.

/**
 * @import { ResponseBody } from "../../types/wire.js"
 * @import { RefObject } from "../../vendor/preact.js"
 */

import { keptCodeMadeAt, newKeptCode } from "../../state/devices.js";
import { dialog } from "../../state/navigation.js";
import { html, useLayoutEffect, useRef, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { useFormRequest } from "../admin/parts/form_request.js";
import { Button } from "../parts/button.js";
import { Copyable } from "../parts/copy_field.js";
import { Time } from "../parts/time.js";
import { recoveryCode } from "../../state/own_account.js";
import { memberOf } from "../../state/people.js";
import { Dialog } from "../parts/dialog.js";

export function KeptCode() {
  const [made, setMade] = useState(
    /** @type {ResponseBody<"POST", "/api/me/devices/recovery"> | null} */ (null),
  );
  const { busy, problem, run } = useFormRequest();
  const madeAt = keptCodeMadeAt.value;
  /** @type {RefObject<HTMLElement>} */
  const section = useRef(null);
  useLayoutEffect(() => {
    if (madeAt !== undefined && dialog.peek()?.section === "recovery")
      section.current.scrollIntoView({ block: "end" });
  }, [madeAt]);
  const make = () => run(async () => setMade(await newKeptCode()));
  return html`<section class="stack" ref=${section} aria-label=${t("recovery-code")}>
    <h4>${t("recovery-code")}</h4>
    <p>${t("kept-code-text")}</p>
    ${problem && html`<p class="error" role="alert">${problem}</p>`}
    ${
      made && made.made_at_ms === madeAt
        ? html`
            <${Copyable} label=${t("kept-code-own")} text=${made.code} done=${t("copied")} />
            <p class="advice" role="status">${t("kept-code-once")}</p>
          `
        : html`
            ${
              madeAt && html`<p class="quiet">${t("kept-code-made")} <${Time} ms=${madeAt} style="day" /></p>`
            }
            <p>
              <${Button} onClick=${make} disabled=${busy || madeAt === undefined}>
                ${t(madeAt ? "kept-code-again" : "recovery-make")}
              <//>
            </p>
          `
    }
  </section>`;
}

/** @param {{memberId: string, onClose: () => void}} props */
export function Recovery({ memberId, onClose }) {
  const [made, setMade] = useState(
    /** @type {ResponseBody<"POST", `/api/members/${string}/recovery`> | null} */ (null),
  );
  const { busy, problem, run } = useFormRequest();
  const name = memberOf(memberId)?.nickname ?? t("somebody");
  const make = () => run(async () => setMade(await recoveryCode(memberId)));
  return html`<${Dialog} title=${t("recovery-title", { name })} onClose=${onClose}>
    <p dir="auto">${t("recovery-text", { name })}</p>
    ${problem && html`<p class="error" role="alert">${problem}</p>`}
    ${
      made
        ? html`
            <${Copyable} label=${t("recovery-code")} text=${made.code} done=${t("copied")} />
            <p class="quiet">${t("code-until")} <${Time} ms=${made.expires_at_ms} style="long" /></p>
          `
        : html`<footer>
            <${Button} onClick=${onClose}>${t("cancel")}<//>
            <${Button} look="primary" onClick=${make} disabled=${busy}>${t("recovery-make")}<//>
          </footer>`
    }
  <//>`;
}
