// Adds, orders and removes the member's other servers. Also shows the link that allows another server's page
// to show the user's unread counts on this server.

/** @import { OtherServer } from "../../state/other_servers.js" */

import { tryOrNotify } from "../../state/notices.js";
import {
  addressOf,
  addServers,
  counts,
  hostOf,
  linksIn,
  loadOwnToken,
  moveServer,
  ownToken,
  railLink,
  removeServer,
  renewOwnToken,
  revokeOwnToken,
  servers,
} from "../../state/other_servers.js";
import { html, useEffect, useState } from "../../vendor/preact.js";
import { explain, t } from "../../words/words.js";
import { Button } from "../parts/button.js";
import { Copyable, copy } from "../parts/copy_field.js";
import { Field } from "../parts/field.js";
import { MenuButton } from "../parts/menu.js";
import { OwnLinks } from "../servers/linked_accounts.js";
import { Face } from "../servers/rail.js";

export function ServersPage() {
  const [problem, setProblem] = useState("");
  useEffect(() => {
    loadOwnToken().catch((error) => setProblem(explain(error)));
  }, []);
  const all = servers.value;
  return html`
    <p>${t("servers-text")}</p>
    <${AddForm} />
    ${
      all.length > 0 &&
      html`<ul class="rows other-servers" aria-label=${t("settings-servers")}>
        ${all.map(
          (server, index) =>
            html`<${Row}
              key=${server.origin}
              server=${server}
              isFirst=${index === 0}
              isLast=${index === all.length - 1}
            />`,
        )}
      </ul>`
    }
    <${OwnLinks} />
    <h4>${t("servers-own")}</h4>
    <p>${t("servers-own-text")}</p>
    ${problem && html`<p class="error" role="alert">${problem}</p>`}
    ${ownToken.value !== undefined && html`<${OwnLink} token=${ownToken.value} />`}
    ${
      all.length > 0 &&
      html`<h4>${t("servers-copy")}</h4>
        <p>${t("servers-copy-text")}</p>
        <p><${Button} icon="copy" onClick=${copyAll}>${t("servers-copy-all")}<//></p>`
    }
  `;
}

/** Copy the list of servers, with this server first, for pasting into the same field on another server. */
function copyAll() {
  const links = servers.value.map(({ origin, token }) => railLink(origin, token));
  copy([railLink(location.origin, ownToken.value ?? ""), ...links].join("\n"));
}

function AddForm() {
  const [text, setText] = useState("");
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const add = async (/** @type {Event} */ event) => {
    event.preventDefault();
    const links = linksIn(text);
    if (!links?.length) {
      setProblem(t(links ? "servers-this" : "servers-no-address"));
      return;
    }
    // Open the tab before any request, because the browser would block it as a pop-up later.
    const invited = links.find(({ invite }) => invite);
    if (invited) visit(addressOf(invited.origin, invited.invite));
    setBusy(true);
    await addServers(links);
    setBusy(false);
    setText("");
  };
  return html`<form class="stack" onSubmit=${add}>
    <${Field}
      label=${t("servers-address")}
      hint=${t("servers-address-hint")}
      problem=${problem}
      value=${text}
      dir="ltr"
      autocomplete="off"
      spellcheck=${false}
      onInput=${(/** @type {EventOn<HTMLInputElement>} */ event) => {
        setText(event.currentTarget.value);
        setProblem("");
      }}
    />
    <p>
      <${Button} type="submit" look="primary" disabled=${busy || !text.trim()}>${t("servers-add")}<//>
    </p>
  </form>`;
}

/**
 * Open another server in a new tab that has no access to this page and sends no referrer.
 * @param {string} address
 */
function visit(address) {
  open(address, "_blank", "noopener,noreferrer");
}

/** @param {{server: OtherServer, isFirst: boolean, isLast: boolean}} props */
function Row({ server, isFirst, isLast }) {
  const { origin, name, token } = server;
  const host = hostOf(origin);
  const address = html`<bdi dir="ltr">${host}</bdi>`;
  const state = !token
    ? t("servers-without-counts")
    : counts.value[origin] === null
      ? t("servers-unreachable")
      : "";
  return html`<li>
    <${Face} server=${server} />
    <span class="row-text">
      <strong dir="auto">${name === host ? address : name}</strong>
      <small class="quiet">${name !== host && [address, state && " · "]}${state}</small>
    </span>
    <${MenuButton}
      label=${t("servers-more", { name })}
      items=${[
        !isFirst && { label: t("servers-up"), icon: "up", onChoose: () => moveServer(origin, -1) },
        !isLast && { label: t("servers-down"), icon: "lower", onChoose: () => moveServer(origin, 1) },
        { label: t("servers-remove"), icon: "trash", danger: true, onChoose: () => removeServer(origin) },
      ]}
    />
  </li>`;
}

/** @param {{token: string | null}} props */
function OwnLink({ token }) {
  const [busy, setBusy] = useState(false);
  const act = (/** @type {() => Promise<unknown>} */ request) => async () => {
    setBusy(true);
    await tryOrNotify(request());
    setBusy(false);
  };
  if (!token)
    return html`<p>
      <${Button} icon="link" disabled=${busy} onClick=${act(renewOwnToken)}>${t("servers-make-link")}<//>
    </p>`;
  return html`
    <${Copyable} label=${t("servers-link")} text=${railLink(location.origin, token)} />
    <p class="quiet">${t("servers-link-warning")}</p>
    <p>
      <${Button} disabled=${busy} onClick=${act(renewOwnToken)}>${t("servers-renew-link")}<//>
      ${" "}
      <${Button} look="danger" disabled=${busy} onClick=${act(revokeOwnToken)}>${t("servers-revoke-link")}<//>
    </p>
  `;
}
