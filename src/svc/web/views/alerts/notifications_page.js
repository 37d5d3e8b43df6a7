// Shows the notification settings: the level for all channels, system notifications, Web Push and sounds.

/** @import { Notifications } from "../../types/api.js" */

import { alerts, chooseAlerts, chooseSound, SOUNDS } from "../../state/alerts.js";
import { chooseLevel, choiceOf, LEVELS, levelOf, unmute } from "../../state/notifications.js";
import { tryOrNotify } from "../../state/notices.js";
import { install, installing } from "../../state/installation.js";
import { lookAtPush, push } from "../../state/push.js";
import { subscribe, unsubscribe } from "../../state/push_subscription.js";
import { html, useLayoutEffect } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Button } from "../parts/button.js";
import { Choice, Switch } from "../parts/field.js";
import { MenuButton } from "../parts/menu.js";
import { chime } from "./chimes.js";
import { mutedWords, muteItems } from "./level_menu.js";
import { askForNotices, noticesRefused } from "./system_notifications.js";

export function NotificationsPage() {
  useLayoutEffect(lookAtPush, []);
  const options = LEVELS.map((value) => ({ value, label: t(`level-${value}`) }));
  return html`
    <${Choice}
      label=${t("level-of-all")}
      value=${levelOf(null)}
      options=${options}
      onChange=${(/** @type {Notifications["level"]} */ level) => tryOrNotify(chooseLevel(null, level))}
    />
    <${MuteAll} />
    <section class="part" aria-label=${t("this-device")}>
      <h4>${t("this-device")}</h4>
      <${Notices} />
      <${Push} />
      ${installing.value && html`<p><${Button} icon="down" onClick=${install}>${t("install")}<//></p>`}
    </section>
    <section class="part" aria-label=${t("sounds")}>
      <h4>${t("sounds")}</h4>
      <ul class="sounds">${SOUNDS.map((name) => html`<${SoundSwitch} key=${name} name=${name} />`)}</ul>
    </section>
  `;
}

function MuteAll() {
  const { muted, muted_until_ms: untilMs } = choiceOf(null);
  if (muted)
    return html`<p class="mute-all">
      <span>${mutedWords(untilMs)}</span>
      <${Button} onClick=${() => tryOrNotify(unmute(null))}>${t("unmute-channel")}<//>
    </p>`;
  return html`<p class="mute-all">
    <${MenuButton} label=${t("mute-all")} class="button" items=${() => muteItems(null)}>${t("mute-all")}<//>
  </p>`;
}

/** The setting for notifications while the page is open but not visible. */
function Notices() {
  const isBlocked = noticesRefused();
  const change = async (/** @type {boolean} */ on) => {
    const notices = on && (await askForNotices());
    chooseAlerts({ notices });
    return notices === on;
  };
  return html`<${Switch}
    label=${t("notices")}
    hint=${isBlocked ? t("notices-refused") : t("notices-hint")}
    checked=${alerts.value.notices && !isBlocked}
    disabled=${isBlocked}
    onChange=${change}
  />`;
}

/** The setting for Web Push, which delivers notifications while no page is open. */
function Push() {
  const state = push.value;
  const change = async (/** @type {boolean} */ on) =>
    (await tryOrNotify(on ? subscribe() : unsubscribe())) && (push.value === "on") === on;
  const possible = ["on", "off", "busy", "failed"].includes(state);
  return html`<div class="push-state" data-state=${state}>
    <${Switch}
      label=${t("push")}
      hint=${t(`push-${state}`)}
      checked=${state === "on"}
      disabled=${!possible || state === "busy"}
      onChange=${change}
    />
  </div>`;
}

/** @param {{name: typeof SOUNDS[number]}} props */
function SoundSwitch({ name }) {
  const on = alerts.value.sounds[name];
  return html`<li>
    <${Switch}
      label=${t(`sound-${name}`)}
      checked=${on}
      onChange=${(/** @type {boolean} */ wanted) => chooseSound(name, wanted)}
    />
    <${Button}
      look="link"
      aria-label=${t("listen-to", { sound: t(`sound-${name}`) })}
      onClick=${() => chime(name)}
    >
      ${t("listen")}
    <//>
  </li>`;
}
