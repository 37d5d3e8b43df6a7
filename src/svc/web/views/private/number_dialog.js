// How a private conversation is kept private, in plain words, and the number that both sides compare.

/** @import { Running } from "../../state/private_talks.js" */
/** @typedef {Awaited<ReturnType<Running["numberOf"]>>} Compared */

import { nameOf, talksById, theRunning } from "../../state/private_talks.js";
import { html, useEffect, useState } from "../../vendor/preact.js";
import { explain, t } from "../../words/words.js";
import { Button } from "../parts/button.js";
import { Dialog } from "../parts/dialog.js";
import { QrCode } from "../parts/qr_code.js";

/** @param {{talkId: string, onClose: () => void}} props */
export function NumberDialog({ talkId, onClose }) {
  const talk = talksById.value.get(talkId);
  const [number, setNumber] = useState(/** @type {Compared | undefined} */ (undefined)); // Null outside the group.
  const [problem, setProblem] = useState("");
  useEffect(() => { theRunning().then((running) => running.numberOf(talkId)).then(setNumber, (error) => setProblem(explain(error))); }, [talkId, talk?.verified]);
  if (!talk) return null;
  const name = nameOf(talk);
  const verify = async (/** @type {string[] | null} */ digits) => {
    const running = await theRunning();
    await running.verify(talkId, digits);
    await running.look(talkId);
  };
  return html`<${Dialog} title=${t("private-how")} onClose=${onClose}>
    <p>${t("private-how-text")}</p>
    <p>${t("private-keeps")}</p>
    <h3>${t("private-number")}</h3>
    ${problem && html`<p class="error" role="alert">${problem}</p>`}
    ${number === null && html`<p class="quiet">${t("private-no-number")}</p>`}
    ${number && html`<p>${t("private-compare", { name, count: number.devices })}</p><p class="private-number">${number.digits.join(" ")}</p>
      <${QrCode} text=${number.digits.join(" ")} label=${t("private-number-qr")} />
      ${talk.verified === "lost" && html`<p class="error" role="status">${t("private-verified-lost")}</p>`}
      ${talk.verified === "yes"
        ? html`<p role="status"><b>${t("private-verified")}</b> <${Button} look="link" onClick=${() => verify(null)}>${t("private-unverify")}<//></p>`
        : html`<footer><${Button} look="primary" onClick=${() => verify(number.digits)}>${t("private-verify")}<//></footer>`}`}
  <//>`;
}
