// A private conversation: its members, messages and composer. The server gets only encrypted data: no drafts,
// typing events or previews.

/** @import { Talk as One } from "../../state/private_talks.js" */
/** @import { Permission } from "../../types/wire.js" */

import { callChannel } from "../../call/current_call.js";
import { callTalk } from "../../call/private_calls.js";
import { notify } from "../../state/notices.js";
import { leaveTalk, showDialog } from "../../state/navigation.js";
import { memberOf } from "../../state/people.js";
import { may } from "../../state/channels.js";
import {
  isBlocked,
  nameOf,
  othersOf,
  problems,
  talksById,
  talksKnown,
  theRunning,
} from "../../state/private_talks.js";
import { connection, member } from "../../state/server.js";
import { html, useEffect, useMemo, useState } from "../../vendor/preact.js";
import { knows, t } from "../../words/words.js";
import { DrawerButton } from "../channels/drawer_button.js";
import { useDropping } from "../composer/attach.js";
import { Button, IconButton } from "../parts/button.js";
import { messagesOf } from "./message_adapter.js";
import { TalkCall } from "./conversation_call.js";
import { TalkComposer } from "./conversation_composer.js";
import { TalkHistory } from "./conversation_history.js";
import { TalkPicture } from "./conversation_picture.js";
import { undressed } from "./picture_metadata.js";

const DONE_WITH_IT = new Set(["add_reactions", "send_messages"]);

/** @param {{talkId: string}} props */
export function Talk({ talkId }) {
  const talk = talksById.value.get(talkId);
  useEffect(() => {
    if (talksKnown.value && !talk) leaveTalk();
  }, [talksKnown.value, talk]);
  if (!talk)
    return html`<main class="empty">
      <p class="quiet">${connection.value === "online" ? t("loading") : t("offline-text")}</p>
    </main>`;
  return html`<${Open} key=${talkId} talk=${talk} />`;
}

/** @param {{talk: One}} props */
function Open({ talk }) {
  const [editing, setEditing] = useState(/** @type {string | null} */ (null));
  const members = talk.members.join();
  const conversation = useMemo(
    () => ({ talkId: talk.id, thread: null, messages: messagesOf(talk) }),
    [talk.id, members],
  );
  const words = hindrance(talk);
  const closed = isBlocked(talk) || !othersOf(talk).length;
  const allowed = useMemo(
    () => (/** @type {Permission} */ permission) =>
      !closed && DONE_WITH_IT.has(permission) && may("send_messages"),
    [closed],
  );
  const editLast = () => {
    const last = conversation.messages.value.findLast(
      (each) => !each.note && each.author.id === member.value?.id && !each.trouble,
    );
    if (last) setEditing(last.id);
  };
  const dropping = useDropping(
    () => !closed && may("send_messages"),
    async (files) => {
      const running = await theRunning();
      if (!closed && running.uploadsOf(talk.id, undressed).add(files) === false) notify(t("too-many-files"));
    },
  );
  return html`<main id="private" class="conversation" ...${dropping.on}>
    <${Head} talk=${talk} />
    <${TalkCall} talk=${talk} />
    ${talk.asks.map(
      ({ thumbprint }) => html`<p key=${thumbprint} class="talk-ask" role="status">
        <span>${t("private-asked")}</span>
        <${Button} look="primary" onClick=${() => showDialog("private-earlier", { thumbprint })}>
          ${t("private-asked-look")}
        <//>
      </p>`,
    )}
    <${Content}
      talk=${talk}
      conversation=${conversation}
      may=${allowed}
      editing=${editing}
      onEdit=${setEditing}
    />
    ${words && html`<p id="private-state" class="private-state" role="status">${words}</p>`}
    <${TalkComposer} talk=${talk} closed=${closed} editLast=${editLast} />
    ${dropping.shown}
  </main>`;
}

/** Return why new messages will not be read at once, or nothing. @param {One} talk */
function hindrance(talk) {
  const name = nameOf(talk);
  const problem = problems.value.get(talk.id);
  if (isBlocked(talk)) return t("private-blocked", { name });
  if (!othersOf(talk).length) return t("private-nobody");
  if (talk.verified === "lost") return t("private-verified-lost");
  if (problem) return knows(`private-${problem}`) ? t(`private-${problem}`) : problem;
  return talk.stands === "alone"
    ? t("private-alone", { name })
    : talk.stands === "outside"
      ? t("private-outside")
      : "";
}

/** @param {{talk: One}} props */
function Head({ talk }) {
  const [otherId] = othersOf(talk);
  const other = talk.two ? memberOf(otherId) : null;
  const name = nameOf(talk);
  return html`<header class="head">
    <${DrawerButton} />
    <${TalkPicture} talk=${talk} />
    <h1 id="private-name" dir="auto" tabindex="-1">
      ${
        talk.two && other
          ? html`<button type="button" onClick=${() => showDialog("profile", { memberId: otherId })}>
              ${name}
            </button>`
          : name
      }
    </h1>
    <span class="head-actions">
      ${
        callChannel.value !== talk.id &&
        othersOf(talk).length > 0 &&
        !isBlocked(talk) &&
        html`<${IconButton} icon="call" label=${t("private-call")} onClick=${() => callTalk(talk.id)} />`
      }
      <${IconButton}
        icon="search"
        label=${t("private-search")}
        onClick=${() => showDialog("private-search")}
      />
      ${
        talk.two &&
        other &&
        may("send_messages") &&
        html`<${IconButton}
          icon="add"
          label=${t("private-add")}
          onClick=${() => showDialog("private-group", { with: [otherId] })}
        />`
      }
      ${
        !talk.two &&
        html`<${IconButton}
          icon="people"
          label=${t("private-people")}
          onClick=${() => showDialog("private-people", { talkId: talk.id })}
        />`
      }
      <${IconButton}
        icon=${talk.verified === "yes" ? "check" : "lock"}
        class=${talk.verified === "lost" ? "with-news" : ""}
        label=${t("private-how")}
        onClick=${() => showDialog("private-number", { talkId: talk.id })}
      />
    </span>
  </header>`;
}

/** @param {Parameters<typeof TalkHistory>[0]} props */
function Content(props) {
  const { talk, conversation } = props;
  if (talk.stands === "loading" && !conversation.messages.value.length) {
    const again = () => theRunning().then((made) => made.look(talk.id));
    return html`<div class="empty">
      ${
        problems.value.has(talk.id)
          ? html`<${Button} onClick=${again}>${t("try-again")}<//>`
          : html`<p class="quiet">${t("loading")}</p>`
      }
    </div>`;
  }
  return html`<${TalkHistory} ...${props} />`;
}
