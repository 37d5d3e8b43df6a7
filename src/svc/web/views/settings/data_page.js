// Shows the settings page for exporting the user's data, leaving the server, and deleting the data. Explains
// the effects.

import { notify, tryOrNotify } from "../../state/notices.js";
import { deleteData, exportData, leaveServer } from "../../state/own_account.js";
import { info, member } from "../../state/server.js";
import { html, useEffect, useRef, useState } from "../../vendor/preact.js";
import { explain, t } from "../../words/words.js";
import { TypedConfirm } from "../admin/parts/form_request.js";
import { Button } from "../parts/button.js";
import { Confirm } from "../parts/dialog.js";

const OWNER = "owner";

export function DataPage() {
  const [step, setStep] = useState(/** @type {"leave" | "delete" | null} */ (null));
  const close = () => setStep(null);
  if (!member.value) return null;
  const { nickname, roles } = member.value;
  const server = info.value?.name;
  const owner = roles.includes(OWNER);
  const done = async (/** @type {() => Promise<void>} */ act, /** @type {string} */ words) => {
    if (await tryOrNotify(act())) notify(words, "done");
  };
  return html`
    <${Export} />
    <section class="stack">
      <h4>${t("leave-server")}</h4>
      <p>${t("leave-text")}</p>
      ${owner && html`<p class="advice">${t("owner-stays")}</p>`}
      <p><${Button} disabled=${owner} onClick=${() => setStep("leave")}>${t("leave-server")}<//></p>
    </section>
    <section class="stack">
      <h4>${t("delete-data")}</h4>
      <p>${t("delete-data-text")}</p>
      <p>
        <${Button} look="danger" disabled=${owner} onClick=${() => setStep("delete")}>${t("delete-data")}<//>
      </p>
    </section>
    ${
      step === "leave" &&
      html`<${Confirm}
        title=${server ? t("leave-title", { server }) : t("leave-server")}
        text=${t("leave-text")}
        action=${t("leave-server")}
        onConfirm=${() => done(leaveServer, t("have-left"))}
        onClose=${close}
      />`
    }
    ${
      step === "delete" &&
      html`<${TypedConfirm}
        title=${t("delete-data-title")}
        text=${t("delete-data-warning")}
        name=${nickname}
        action=${t("delete-data")}
        onConfirm=${async () => {
          await deleteData();
          notify(t("data-deleted"), "done");
        }}
        onClose=${close}
      />`
    }
  `;
}

/** A button that downloads all of the user's data as a file. */
function Export() {
  const [bytes, setBytes] = useState(/** @type {number | null} */ (null));
  const [problem, setProblem] = useState("");
  const leaving = useRef(new AbortController());
  useEffect(() => () => leaving.current.abort(), []);
  const start = async () => {
    setBytes(0);
    setProblem("");
    try {
      const { signal } = leaving.current;
      save(await exportData(setBytes, signal), `${t("export-file")}.json`);
    } catch (error) {
      if (leaving.current.signal.aborted) return;
      setProblem(explain(error));
    }
    setBytes(null);
  };
  return html`<section class="stack">
    <h4>${t("export-title")}</h4>
    <p>${t("export-text")}</p>
    <p><${Button} onClick=${start} disabled=${bytes !== null}>${t("export-start")}<//></p>
    <p class="quiet" role="status">
      ${bytes === null ? "" : t("export-bytes", { kilobytes: Math.ceil(bytes / 1000) })}
    </p>
    ${problem && html`<p class="error" role="alert">${problem}</p>`}
  </section>`;
}

/** @param {Blob} blob @param {string} name */
function save(blob, name) {
  const url = URL.createObjectURL(blob);
  const link = Object.assign(document.createElement("a"), { href: url, download: name });
  link.click();
  // By then, the browser has started the download.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
