// Edits a channel's permissions: whether it is private, and a three-way choice for each permission of a role
// or member. Shows the resulting permissions.

/** @import { Word } from "../../state/admin/permissions.js" */
/** @import { Channel, Override } from "../../types/api.js" */
/** @import { Target as Chosen } from "./parts/picker.js" */

import { timesChanged } from "../../state/admin/change_counters.js";
import { overridesOf, putOverride, replaced } from "../../state/admin/channels.js";
import { CHANNEL_GROUPS, inChannel, ofRoles, settingOf, withWord } from "../../state/admin/permissions.js";
import { isPrivate, keyOf, letIn, madeOpen, madePrivate } from "../../state/admin/channel_privacy.js";
import { isOwner } from "../../state/admin/role_rank.js";
import { hasPermission } from "../../state/channels.js";
import { notify } from "../../state/notices.js";
import { memberOf, roles, rolesById } from "../../state/people.js";
import { html, useEffect, useRef, useState } from "../../vendor/preact.js";
import { PrivateTo, self } from "./create_channel.js";
import { useResponse } from "./parts/form_request.js";
import { PermissionChoice } from "./parts/permission.js";
import { Pick, targetOf, TargetSign } from "./parts/picker.js";
import { Button } from "../parts/button.js";
import { Switch } from "../parts/field.js";
import { moveAmong } from "../parts/menu.js";
import { Skeletons } from "../parts/skeletons.js";
import { explain, t } from "../../words/words.js";

/** @typedef {(wanted: Override[]) => void} Put */

/** @param {{channel: Channel}} props */
export function Overrides({ channel }) {
  const turn = useRef(Promise.resolve());
  const { value: overrides, problem, set, again } = useResponse(() => overridesOf(channel.id), [channel.id]);
  const times = timesChanged("overrides");
  // Wait until the user's changes are stored, because an earlier response would not include them.
  useEffect(() => {
    turn.current.then(again);
  }, [times]);
  if (problem)
    return html`<p class="error" role="alert">
      ${problem} <${Button} look="link" onClick=${again}>${t("try-again")}<//>
    </p>`;
  if (!overrides) return html`<${Skeletons} rows=${3} />`;
  /**
   * Show the change immediately. Send changes one after another, because the server checks each against the
   * previous ones.
   * @type {Put}
   */
  const put = (wanted) => {
    set((all) => wanted.reduce(replaced, all));
    turn.current = turn.current.then(async () => {
      try {
        for (const override of wanted) await putOverride(channel.id, override);
      } catch (error) {
        notify(explain(error));
        again();
      }
    });
  };
  return html`
    <${Privacy} overrides=${overrides} put=${put} />
    <${Matrix} channel=${channel} overrides=${overrides} put=${put} />
  `;
}

/** @param {{overrides: Override[], put: Put}} props */
function Privacy({ overrides, put }) {
  const hidden = isPrivate(overrides);
  const keys = letIn(overrides);
  const change = (/** @type {string[]} */ wanted) =>
    put(madePrivate(overrides, new Set(wanted), roles.value, self()));
  return html`
    <${Switch}
      label=${t("channel-private")}
      hint=${t("channel-private-hint")}
      checked=${hidden}
      onChange=${(/** @type {boolean} */ on) => (on ? change(keys) : put(madeOpen(overrides)))}
    />
    ${
      hidden &&
      html`<${PrivateTo}
        keys=${keys}
        onAdd=${(/** @type {string} */ key) => change([...keys, key])}
        onRemove=${(/** @type {string} */ key) => change(keys.filter((other) => other !== key))}
      />`
    }
  `;
}

/** @param {{channel: Channel, overrides: Override[], put: Put}} props */
function Matrix({ channel, overrides, put }) {
  const [added, setAdded] = useState(/** @type {string[]} */ ([]));
  const keys = [...new Set(["role:member", ...overrides.map(keyOf), ...added])].filter(
    (key) => key !== "role:member" || rolesById.value.has("member"),
  );
  const [open, setOpen] = useState(keys[0]);
  const shown = keys.includes(open) ? open : keys[0];
  const add = (/** @type {string} */ key) => {
    setAdded([...added, key]);
    setOpen(key);
  };
  const move = (/** @type {EventOn<HTMLElement, KeyboardEvent>} */ event) =>
    moveAmong(event, [...event.currentTarget.querySelectorAll("button")]);
  return html`<section class="stack overrides" aria-label=${t("overrides")}>
    <h4>${t("overrides")}</h4>
    <p class="quiet">${t("overrides-about")}</p>
    <${Pick} label=${t("overrides-add")} chosen=${keys} onPick=${add} />
    <ul class="targets" aria-label=${t("overrides-for")} onKeyDown=${move}>${keys.map(targetOf).map(
      (target) => html`<li key=${target.key}>
        <button type="button" aria-pressed=${target.key === shown} onClick=${() => setOpen(target.key)}>
          <${TargetSign} target=${target} />
          <span dir="auto">${target.name}</span>
        </button>
      </li>`,
    )}</ul>
    ${
      shown &&
      html`<${Target}
        key=${shown}
        target=${targetOf(shown)}
        channel=${channel}
        overrides=${overrides}
        put=${put}
      />`
    }
  </section>`;
}

/**
 * The permissions of one role or member. Members cannot allow or deny permissions that they lack themselves.
 * @param {{target: Chosen, channel: Channel, overrides: Override[], put: Put}} props
 */
function Target({ target, channel, overrides, put }) {
  const type = target.key.startsWith("role:") ? "role" : "member";
  /** @type {Override} */
  const override = overrides.find((override) => keyOf(override) === target.key) ?? {
    type,
    target_id: target.id,
    allow: [],
    deny: [],
  };
  const result = resultFor(type, target.id, overrides);
  const groups = CHANNEL_GROUPS.filter(
    ({ name }) => channel.type === "category" || name === "text" || channel.type === "voice",
  );
  return html`<div class="matrix" role="group" aria-label=${t("overrides-of", { name: target.name })}>
    <p class="quiet" dir="auto">
      ${
        type === "role"
          ? t("result-of-role", { name: target.name })
          : t("result-of-person", { name: target.name })
      }
    </p>
    ${groups.map(
      ({ name, permissions }) =>
        html`<section key=${name}>
          <h5>${t(`permissions-${name}`)}</h5>
          ${permissions.map(
            (permission) => html`<${PermissionChoice}
              key=${permission}
              name=${permission}
              value=${settingOf(override, permission)}
              result=${result.has(permission)}
              disabled=${!isOwner() && !hasPermission(permission, channel.id)}
              onChange=${(/** @type {Word} */ word) => put([withWord(override, permission, word)])}
            />`,
          )}
        </section>`,
    )}
  </div>`;
}

/**
 * Return the permissions that this member, or a member with only this role, has in the channel.
 * @param {Override["type"]} type
 * @param {string} id
 * @param {Override[]} overrides
 */
function resultFor(type, id, overrides) {
  const ids = type === "role" ? [id] : (memberOf(id)?.roles ?? []);
  const theirs = ids.flatMap((roleId) => rolesById.value.get(roleId) ?? []);
  if (ids.includes("owner")) return ofRoles(theirs);
  return inChannel(ofRoles(theirs), ids, type === "member" ? id : null, overrides);
}
