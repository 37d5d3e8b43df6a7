// Shows who has the keys of an encrypted call, and the safety number that its participants can compare.

/** @import { Client } from "../../state/private_client.js" */
/** @typedef {Awaited<ReturnType<Client["numberOf"]>>} Compared */

import { keyHolders } from "../../state/private_calls.js";
import { privateClient } from "../../state/private_client.js";
import { memberOf } from "../../state/people.js";
import { participantsIn } from "../../state/voice.js";
import { html, useEffect, useState } from "../../vendor/preact.js";
import { explain, formatList, t } from "../../words/words.js";
import { Dialog } from "../parts/dialog.js";

const SETTLED_MS = 5000; // A member who leaves disappears shortly before the keys change.

const namesOf = (/** @type {string[]} */ ids) =>
  formatList(ids.map((id) => memberOf(id)?.nickname ?? t("somebody")));

/**
 * A warning that lists the members who have the call's keys without being shown in the call, or who have them
 * on more than one device.
 * @param {{channelId: string}} props
 */
export function UnexpectedDevices({ channelId }) {
  const present = new Set(participantsIn(channelId).map(({ id }) => id));
  const holders = keyHolders.value;
  const names = namesOf(holders.filter((id, at) => !present.has(id) || holders.indexOf(id) !== at));
  const [announced, setAnnounced] = useState("");
  useEffect(() => {
    const timer = setTimeout(setAnnounced, SETTLED_MS, names);
    return () => clearTimeout(timer);
  }, [names]);
  return (
    names &&
    announced === names &&
    html`<p id="uninvited" class="trouble" role="alert">${t("call-encrypted-uninvited", { names })}</p>`
  );
}

/** @param {{channelId: string, onClose: () => void}} props */
export function SealedDialog({ channelId, onClose }) {
  const holders = keyHolders.value;
  // The number is valid only for these devices, so hide it when they change.
  const [compared, setCompared] = useState(
    /** @type {{holders: string[], number?: Compared}} */ ({ holders: [] }),
  );
  const [problem, setProblem] = useState("");
  useEffect(() => {
    privateClient()
      .then((client) => client.numberOf(channelId))
      .then(
        (number) => setCompared({ holders, number }),
        (error) => setProblem(explain(error)),
      );
  }, [channelId, holders]);
  const number = compared.holders === holders && compared.number;
  return html`<${Dialog} title=${t("call-encrypted")} onClose=${onClose}>
    <p>${t("call-encrypted-text")}</p>
    ${problem && html`<p class="error" role="alert">${problem}</p>`}
    ${
      holders.length
        ? html`<p id="key-holders" dir="auto">
            ${t("call-encrypted-who", { names: namesOf(holders), count: holders.length })}
          </p>`
        : html`<p class="quiet">${t("call-encrypted-alone")}</p>`
    }
    ${
      number &&
      html`
        <h3>${t("private-number")}</h3>
        <p>${t("call-encrypted-number", { count: number.devices })}</p>
        <p class="private-number">${number.digits.join(" ")}</p>
      `
    }
  <//>`;
}
