// Lists, creates and deletes bots, which are accounts for programs. A bot's token is shown only once.

/** @import { Member } from "../../types/api.js" */
/** @import { ResponseBody } from "../../types/wire.js" */
/** @import { ItemList } from "../parts/menu.js" */

import { timesChanged } from "../../state/admin/change_counters.js";
import { bots, createBot, deleteBot, renewToken } from "../../state/admin/server_operation.js";
import { ranksBelow } from "../../state/admin/role_rank.js";
import { notify, tryOrNotify } from "../../state/notices.js";
import { storeMembers, memberOf, members, rolesById, roleName } from "../../state/people.js";
import { html, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Avatar, BotSign } from "../parts/avatar.js";
import { Button } from "../parts/button.js";
import { Copyable } from "../parts/copy_field.js";
import { Confirm, Dialog } from "../parts/dialog.js";
import { Field } from "../parts/field.js";
import { dateOf } from "../parts/time.js";
import { MemberMenu } from "./member_menu.js";
import { useResponse, useFormRequest } from "./parts/form_request.js";
import { ListPage, Row } from "./parts/list_page.js";

/** @typedef {ResponseBody<"GET", "/api/bots">["bots"][number]} Bot */

/** Fetch the bots and add their accounts to the member list. */
async function loadBots() {
  const all = await bots();
  storeMembers(all.map(({ member }) => member));
  return all;
}

export function BotsPage() {
  const { value, problem, again } = useResponse(loadBots, [timesChanged("bots")]);
  const [shown, setShown] = useState(/** @type {{name: string, token: string} | null} */ (null));
  const [question, setQuestion] = useState(
    /** @type {{act: "token" | "delete", member: Member} | null} */ (null),
  );
  const showToken = (/** @type {Member} */ member, /** @type {string} */ token) => {
    setShown({ name: member.nickname, token });
    again();
  };
  // Omit bots that have been kicked since the list was fetched.
  const present = value?.filter(({ member }) => members.value.has(member.id));
  /** @type {{[act in "token" | "delete"]: (target: {member: Member}) => Promise<void>}} */
  const acts = {
    token: async ({ member }) => {
      await tryOrNotify(renewToken(member.id).then((token) => showToken(member, token)));
    },
    delete: async ({ member }) => {
      if (await tryOrNotify(deleteBot(member.id))) {
        notify(t("bot-deleted", { name: member.nickname }), "done");
        again();
      }
    },
  };
  return html`
    <${ListPage}
      label=${t("settings-bots")}
      about=${t("bots-about")}
      items=${present}
      problem=${problem}
      again=${again}
      empty=${t("no-bots")}
      row=${(/** @type {Bot} */ bot) =>
        html`<${OneBot}
          key=${bot.member.id}
          bot=${bot}
          onAsk=${(/** @type {"token" | "delete"} */ act, /** @type {Member} */ member) =>
            setQuestion({ act, member })}
        />`}
    >
      <${Making} onMade=${(/** @type {Made} */ { member, token }) => {
        storeMembers([member]);
        showToken(member, token);
      }} />
    <//>
    ${
      question &&
      html`<${Confirm}
        title=${t(`bot-${question.act}-title`, { name: question.member.nickname })}
        text=${t(`bot-${question.act}-text`)}
        action=${t(`bot-${question.act}`)}
        onConfirm=${() => acts[question.act](question)}
        onClose=${() => setQuestion(null)}
      />`
    }
    ${
      shown &&
      html`<${Dialog} title=${t("bot-token-of", { name: shown.name })} onClose=${() => setShown(null)}>
        <p>${t("bot-token-once")}</p>
        <${Copyable} label=${t("bot-token-label")} text=${shown.token} />
        <pre class="snippet" tabindex="0" dir="ltr">
          ${`curl -H "Authorization: Bearer TOKEN" ${location.origin}/api/channels`}
        </pre>
        <footer><${Button} look="primary" onClick=${() => setShown(null)}>${t("bot-token-kept")}<//></footer>
      <//>`
    }
  `;
}

/** @param {{bot: Bot, onAsk: (act: "token" | "delete", member: Member) => void}} props */
function OneBot({ bot, onAsk }) {
  const { token_made_by: by, token_made_at_ms: at, has_token: hasToken } = bot;
  const member = members.value.get(bot.member.id) ?? bot.member;
  const { id, nickname, avatar } = member;
  const names = member.roles
    .flatMap((roleId) => rolesById.value.get(roleId) ?? [])
    .filter((role) => role.id !== "member")
    .map(roleName);
  const made =
    hasToken && at !== null
      ? t("bot-token-made", {
          name: by ? (memberOf(by)?.nickname ?? t("somebody")) : t("the-operator"),
          date: dateOf(at),
        })
      : t("bot-no-token");
  /** @type {ItemList} */
  const more = ranksBelow(member)
    ? [
        { label: t("bot-token"), icon: "link", onChoose: () => onAsk("token", member) },
        { label: t("bot-delete"), icon: "trash", danger: true, onChoose: () => onAsk("delete", member) },
      ]
    : [];
  return html`<${Row}
    title=${html`<span dir="auto">${nickname}</span> <${BotSign} bot />`}
    text=${[...names, made].join(" · ")}
    sign=${html`<${Avatar} id=${id} name=${nickname} url=${avatar} size="small" />`}
  >
    <${MemberMenu} member=${member} more=${more} />
  <//>`;
}

/** @typedef {{member: Member, token: string}} Made @param {{onMade: (made: Made) => void}} props */
function Making({ onMade }) {
  const [name, setName] = useState("");
  const { busy, problem, setProblem, get } = useFormRequest();
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    if (!name.trim()) {
      setProblem(t("channel-name-missing"));
      return;
    }
    const made = await get(() => createBot(name.trim()));
    if (!made) return;
    setName("");
    onMade(made);
  };
  return html`<form class="row-form" onSubmit=${submit} novalidate>
    <${Field}
      label=${t("bot-name")}
      value=${name}
      maxlength="32"
      onInput=${(/** @type {EventOn<HTMLInputElement>} */ event) => setName(event.currentTarget.value)}
      problem=${problem}
      autocomplete="off"
    />
    <${Button} look="primary" type="submit" disabled=${busy}>${t("create-bot")}<//>
  </form>`;
}
