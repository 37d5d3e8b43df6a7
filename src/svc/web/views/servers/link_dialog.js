// Shows the dialog that links the user's account here to their account on another server. In three steps, it
// asks whether to contact the other server, whether the account there is theirs, and whether to show that
// account on their profile. Nothing is sent without the user's consent. See docs/servers.md.

/** @import { Received } from "../../state/linked_accounts.js" */
/** @import { Statement } from "../../transport/account_statements.js" */

import { callState } from "../../call/current_call.js";
import { answer, loadOwn, offerAddress, publish, read, requestAddress } from "../../state/linked_accounts.js";
import { showDialog } from "../../state/navigation.js";
import { hostOf, servers } from "../../state/other_servers.js";
import { html, useEffect, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { useFormRequest } from "../admin/parts/form_request.js";
import { Button } from "../parts/button.js";
import { Dialog } from "../parts/dialog.js";
import { Face } from "./rail.js";

/**
 * `origin` is the server to contact. `message` is the message that another server's page has sent, if any.
 * @param {{origin?: string, message?: string, onClose: () => void}} props
 */
export function LinkDialog({ origin, message = "", onClose }) {
  const [received, setReceived] = useState(/** @type {Received | null} */ (null));
  useEffect(() => {
    if (message) read(message).then(setReceived);
  }, [message]);
  if (origin) return html`<${Start} origin=${origin} onClose=${onClose} />`;
  switch (received?.kind) {
    case undefined:
      return null;
    case "request":
      return html`<${Request} from=${received.from} onClose=${onClose} />`;
    case "answer":
      return html`<${Show} from=${received.from} onClose=${onClose} />`;
    case "offer":
      return html`<${Show} from=${received.from} own=${received.own.text} onClose=${onClose} />`;
    default:
      return html`<${Dialog} title=${t("link-title")} onClose=${onClose} class="link-dialog">
        <p>${t(`link-${received?.kind}`, { host: hostOf(received?.origin ?? "") })}</p>
        <footer>
          ${
            received?.kind === "unknown" &&
            html`<${Button} onClick=${() => showDialog("settings", { page: "servers" })}>
              ${t("servers-manage")}
            <//>`
          }
          <${Button} look="primary" onClick=${onClose} autofocus>${t("close")}<//>
        </footer>
      <//>`;
  }
}

/**
 * Open a URL on another server without a referrer. Close the dialog only if this page stays open. Closing it
 * changes the browser's history, which would cancel the navigation.
 * @param {string} address @param {() => void} onClose
 */
function visit(address, onClose) {
  const leaves = callState.value === "none"; // Leaving this page would end a call.
  const link = Object.assign(document.createElement("a"), {
    href: address,
    rel: "noopener noreferrer",
    referrerPolicy: "no-referrer",
    target: leaves ? "_self" : "_blank",
  });
  link.click();
  if (!leaves) onClose();
}

/**
 * The dialog for one step.
 * @param {{title: string, text: string, note: string, action: string, decline?: string, origin: string,
 *   problem: string, busy: boolean, onAct: () => void, onClose: () => void}} props
 */
function Question({
  title,
  text,
  note,
  action,
  decline = t("cancel"),
  origin,
  problem,
  busy,
  onAct,
  onClose,
}) {
  const server = servers.value.find((server) => server.origin === origin);
  const host = hostOf(origin);
  const address = html`<bdi dir="ltr">${host}</bdi>`;
  return html`<${Dialog} title=${title} onClose=${onClose} class="link-dialog">
    ${
      server &&
      html`<div class="link-server other-servers">
        <${Face} server=${server} />
        <span class="row-text">
          <strong dir="auto">${server.name === host ? address : server.name}</strong>
          ${server.name !== host && html`<small class="quiet">${address}</small>`}
        </span>
      </div>`
    }
    <p>${text}</p>
    <p class="quiet">${note}</p>
    ${problem && html`<p class="error" role="alert">${problem}</p>`}
    <footer>
      <${Button} onClick=${onClose} autofocus>${decline}<//>
      <${Button} look="primary" disabled=${busy} onClick=${onAct}>${action}<//>
    </footer>
  <//>`;
}

/**
 * The step that requests a statement from the other server's page.
 * @param {{origin: string, onClose: () => void}} props
 */
function Start({ origin, onClose }) {
  const { busy, problem, run } = useFormRequest();
  const host = hostOf(origin);
  const start = () => run(async () => visit(await requestAddress(origin), onClose));
  return html`<${Question}
    title=${t("link-title")}
    text=${t("link-start", { host })}
    note=${t("link-start-note", { host })}
    action=${t("link-continue")}
    ...${{ origin, problem, busy, onClose }}
    onAct=${start}
  />`;
}

/**
 * The step that sends the user's statement to the server that requested it.
 * @param {{from: Statement, onClose: () => void}} props
 */
function Request({ from, onClose }) {
  const { busy, problem, run } = useFormRequest();
  const host = hostOf(from.iss);
  const give = () => run(async () => visit(await answer(from), onClose));
  return html`<${Question}
    title=${t("link-request-title", { host })}
    text=${t("link-request", { host })}
    note=${t("link-request-note", { host })}
    action=${t("link-confirm")}
    origin=${from.iss}
    ...${{ problem, busy, onClose }}
    onAct=${give}
  />`;
}

/**
 * The step that shows the other account on the user's profile. If `own` is missing, the other server has not
 * yet been asked to show this account.
 * @param {{from: Statement, own?: string, onClose: () => void}} props
 */
function Show({ from, own, onClose }) {
  const { busy, problem, run } = useFormRequest();
  const [shown, setShown] = useState("");
  const host = hostOf(from.iss);
  const show = () =>
    run(async () => {
      setShown(await publish(from, own));
      await loadOwn();
    });
  const offer = () => run(async () => visit(await offerAddress(from, shown), onClose));
  if (shown && own) return html`<${Done} host=${host} onClose=${onClose} />`;
  if (shown)
    return html`<${Question}
      title=${t("link-done-title")}
      text=${t("link-done", { host })}
      note=${t("link-both", { host })}
      action=${t("link-both-action")}
      decline=${t("close")}
      origin=${from.iss}
      ...${{ problem, busy, onClose }}
      onAct=${offer}
    />`;
  return html`<${Question}
    title=${t("link-show-title")}
    text=${t("link-show", { host })}
    note=${t("link-show-note", { host })}
    action=${t("link-show-action")}
    origin=${from.iss}
    ...${{ problem, busy, onClose }}
    onAct=${show}
  />`;
}

/** @param {{host: string, onClose: () => void}} props */
function Done({ host, onClose }) {
  return html`<${Dialog} title=${t("link-done-title")} onClose=${onClose} class="link-dialog">
    <p>${t("link-done", { host })}</p>
    <footer><${Button} look="primary" onClick=${onClose} autofocus>${t("close")}<//></footer>
  <//>`;
}
