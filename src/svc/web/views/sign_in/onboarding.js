// Greets a new member with the server's icon and channels. After the member's first message, offers
// notifications and a recovery code. Both appear once, above the composer.

import { channels } from "../../state/channels.js";
import { open, currentLocation, showDialog } from "../../state/navigation.js";
import { enterStage, stage } from "../../state/sign_in.js";
import { tryOrNotify } from "../../state/notices.js";
import { lookAtPush, push } from "../../state/push.js";
import { subscribe } from "../../state/push_subscription.js";
import { info, listen, member } from "../../state/server.js";
import { html, useLayoutEffect } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Button, IconButton } from "../parts/button.js";
import { Icon } from "../parts/icon.js";

const MAX_CHANNELS = 4;

/**
 * Return a handler that continues to the next stage and keeps the focus in the channel.
 * @param {"writing" | ""} next
 */
const leave = (next) => (/** @type {EventOn<HTMLElement, MouseEvent>} */ event) => {
  event.currentTarget.closest("main")?.querySelector("h1")?.focus();
  enterStage(next);
};

export function Onboarding() {
  return stage.value === "greeting"
    ? html`<${Greeting} />`
    : stage.value === "offer"
      ? html`<${Offer} />`
      : null;
}

function Greeting() {
  const { name, iconUrl, description } = info.value ?? {};
  const others = channels.value
    .filter(({ id, type }) => type !== "category" && id !== currentLocation.value?.channelId)
    .slice(0, MAX_CHANNELS);
  return html`<section class="newcomer" aria-labelledby="newcomer">
    <header>
      <img src=${iconUrl ?? "/web/icon.svg"} alt="" width="44" height="44" />
      <h2 id="newcomer" dir="auto">${t("newcomer-title", { server: name || "svc" })}</h2>
      <${IconButton} icon="close" label=${t("close")} onClick=${leave("writing")} />
    </header>
    ${description && html`<p dir="auto">${description}</p>`}
    ${
      others.length > 0 &&
      html`<h3>${t("newcomer-channels")}</h3>
        <ul>
          ${others.map(
            ({ id, type, name: channel, topic }) => html`<li key=${id}>
              <button type="button" class="channel" onClick=${() => open(id)}>
                <${Icon} name=${type === "voice" ? "voice" : "hash"} />
                <span dir="auto">${channel}${topic && html` <span class="quiet">${topic}</span>`}</span>
              </button>
            </li>`,
          )}
        </ul>`
    }
  </section>`;
}

function Offer() {
  useLayoutEffect(lookAtPush, []);
  return html`<section class="newcomer" aria-labelledby="newcomer">
    <header>
      <h2 id="newcomer">${t("offer-title")}</h2>
      <${IconButton} icon="close" label=${t("close")} onClick=${leave("")} />
    </header>
    ${
      ["off", "busy"].includes(push.value) &&
      html`<div class="offer">
        <p>${t("offer-notifications-text")}</p>
        <${Button} disabled=${push.value === "busy"} onClick=${() => tryOrNotify(subscribe())}>
          ${t("offer-notifications")}
        <//>
      </div>`
    }
    ${push.value === "refused" && html`<p role="status">${t("push-refused")}</p>`}
    <div class="offer">
      <p>${t("offer-code-text")}</p>
      <${Button} onClick=${() => showDialog("settings", { page: "devices", section: "recovery" })}>
        ${t("offer-code")}
      <//>
    </div>
  </section>`;
}

listen({
  onPush(event, data) {
    if (stage.value && event === "message_posted" && data.author.id === member.value?.id) enterStage("offer");
  },
});
