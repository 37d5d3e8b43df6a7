// Explains how a private conversation is encrypted, and shows the safety number for both sides to compare.

/** @import { Client } from "../../state/private_client.js" */
/** @typedef {Awaited<ReturnType<Client["numberOf"]>>} Compared */

import { privateClient } from "../../state/private_client.js";
import { nameOf, conversationsById } from "../../state/private_conversations.js";
import { html, useEffect, useState } from "../../vendor/preact.js";
import { explain, t } from "../../words/words.js";
import { Button } from "../parts/button.js";
import { Dialog } from "../parts/dialog.js";
import { QrCamera } from "../parts/qr_camera.js";
import { QrCode } from "../parts/qr_code.js";

const NUMBER = /^\d{5}(?: \d{5})+$/u;

/** @param {{conversationId: string, onClose: () => void}} props */
export function NumberDialog({ conversationId, onClose }) {
  const conversation = conversationsById.value.get(conversationId);
  // Undefined until loaded, and null if this device is not in the group.
  const [number, setNumber] = useState(/** @type {Compared | undefined} */ (undefined));
  const [problem, setProblem] = useState("");
  // Whether the camera is scanning, and the message about the last wrong code, if any.
  const [{ scanning, wrong }, setScan] = useState({ scanning: false, wrong: "" });
  useEffect(() => {
    privateClient()
      .then((client) => client.numberOf(conversationId))
      .then(setNumber, (error) => setProblem(explain(error)));
  }, [conversationId, conversation]);
  if (!conversation) return null;
  const name = nameOf(conversation);
  const end = (why = "") => setScan({ scanning: false, wrong: why });
  const verify = async (/** @type {string[] | null} */ digits) => {
    end();
    const client = await privateClient();
    await client.verify(conversationId, digits);
    await client.synchronise(conversationId);
  };
  const read = async (/** @type {string} */ text) => {
    if (!number) return;
    if (text === number.digits.join(" ")) await verify(number.digits);
    // Ignore a code that was read just before the camera was stopped.
    else
      setScan((now) =>
        now.scanning
          ? { ...now, wrong: NUMBER.test(text) ? t("private-scan-other") : t("private-scan-foreign") }
          : now,
      );
  };
  return html`<${Dialog} title=${t("private-how")} onClose=${onClose}>
    <p>${t("private-how-text")}</p>
    <p>${t("private-keeps")}</p>
    <h3>${t("private-number")}</h3>
    ${problem && html`<p class="error" role="alert">${problem}</p>`}
    ${number === null && html`<p class="quiet">${t("private-no-number")}</p>`}
    ${
      number &&
      html`
        <p dir="auto">${t("private-compare", { name, count: number.devices })}</p>
        <p class="private-number">${number.digits.join(" ")}</p>
        ${
          wrong
            ? html`<p class="error" role="alert">${wrong}</p>`
            : scanning && html`<p class="quiet">${t("private-scan-text")}</p>`
        }
        ${
          scanning
            ? html`<${QrCamera} label=${t("private-scan-camera")} onRead=${read} onProblem=${end} />`
            : html`<${QrCode} text=${number.digits.join(" ")} label=${t("private-number-qr")} />`
        }
        ${
          conversation.verified === "lost" &&
          html`<p class="error" role="status">${t("private-verified-lost")}</p>`
        }
        ${
          conversation.verified === "yes"
            ? html`<p role="status">
                <b>${t("private-verified")}</b> <${Button} look="link" onClick=${() => verify(null)}>
                  ${t("private-unverify")}
                <//>
              </p>`
            : html`<footer>
                <${Button} onClick=${() => setScan({ scanning: !scanning, wrong: "" })}>
                  ${scanning ? t("private-scan-stop") : t("private-scan")}
                <//>
                <${Button} look="primary" onClick=${() => verify(number.digits)}>${t("private-verify")}<//>
              </footer>`
        }
      `
    }
  <//>`;
}
