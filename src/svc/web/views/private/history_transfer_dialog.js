// Shows the dialog that asks whether to send earlier messages to another device that is signed in to the
// user's account. It identifies the device and warns that the device may belong to somebody else.

import { privateClient } from "../../state/private_client.js";
import { conversations } from "../../state/private_conversations.js";
import { html, useEffect, useState } from "../../vendor/preact.js";
import { explain, t } from "../../words/words.js";
import { Button } from "../parts/button.js";
import { Dialog } from "../parts/dialog.js";

/** @param {{thumbprint: string, onClose: () => void}} props */
export function EarlierDialog({ thumbprint, onClose }) {
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const asks = conversations.value.flatMap((conversation) =>
    conversation.asks.filter((ask) => ask.thumbprint === thumbprint),
  );
  // Another of the user's devices may have answered, or the requesting device may have been removed.
  useEffect(() => {
    if (!asks.length && !busy && !problem) onClose();
  }, [asks.length, busy, problem]);
  const answer = async (/** @type {boolean} */ allowed) => {
    setBusy(true);
    setProblem("");
    await privateClient()
      .then((client) => client.answerHistoryRequest(thumbprint, allowed))
      .catch((error) => setProblem(explain(error)));
    setBusy(false);
  };
  return html`<${Dialog} title=${t("private-asked-title")} onClose=${onClose}>
    <p>${t("private-asked-text", { count: asks.length })}</p>
    <p><b>${t("private-asked-compare")}</b></p>
    <p class="private-number of-device">${asks[0]?.code.join(" ")}</p>
    <p>${t("private-asked-warning")}</p>
    ${problem && html`<p class="error" role="alert">${problem}</p>`}
    <footer>
      <${Button} disabled=${busy} onClick=${() => answer(false)}>${t("private-asked-refuse")}<//>
      <${Button} look="primary" disabled=${busy} onClick=${() => answer(true)}>${t("private-asked-send")}<//>
    </footer>
  <//>`;
}
