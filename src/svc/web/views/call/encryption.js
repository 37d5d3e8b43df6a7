// The encryption of a call: the holders of its keys, and the safety number that all members compare.

/** @import { Client } from "../../state/private_client.js" */
/** @typedef {Awaited<ReturnType<Client["numberOf"]>>} Compared */

import { keyHolders } from "../../state/private_calls.js";
import { privateClient } from "../../state/private_client.js";
import { memberOf } from "../../state/people.js";
import { participantsIn } from "../../state/voice.js";
import { html, useEffect, useState } from "../../vendor/preact.js";
import { explain, formatList, t } from "../../words/words.js";
import { Dialog } from "../parts/dialog.js";

const SETTLED_MS = 5000; // A leaving member disappears shortly before the keys change.

const namesOf = (/** @type {string[]} */ ids) =>
  formatList(ids.map((id) => memberOf(id)?.nickname ?? t("somebody")));

/**
 * Name devices that hold the keys although their owners are not shown in the call.
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
  // The number belongs to these holders, so hide it when the devices change.
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
