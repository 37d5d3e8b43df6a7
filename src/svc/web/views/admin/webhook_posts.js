// Lists the latest posts to a webhook, each with a link to its message or the reason why it was rejected.

/** @import { ResponseBody } from "../../types/wire.js" */

import { postsOfWebhook } from "../../state/admin/management_requests.js";
import { closeDialogs, open } from "../../state/navigation.js";
import { html } from "../../vendor/preact.js";
import { knows, t } from "../../words/words.js";
import { Button } from "../parts/button.js";
import { Time } from "../parts/time.js";
import { useResponse } from "./parts/form_request.js";
import { ListPage } from "./parts/list_page.js";

/** @typedef {ResponseBody<"GET", `/api/webhooks/${string}/posts`>["posts"][number]} Post */

/** The list of posts, refetched when `times` changes. @param {{id: string, times: number}} props */
export function WebhookPosts({ id, times }) {
  const { value, problem, again } = useResponse(() => postsOfWebhook(id), [id, times]);
  return html`<section class="stack hook-posts" aria-label=${t("hook-posts")}>
    <h4>${t("hook-posts")}</h4>
    <${ListPage}
      label=${t("hook-posts")}
      about=${t("hook-posts-about")}
      items=${value}
      problem=${problem}
      again=${again}
      empty=${t("hook-no-posts")}
      row=${(/** @type {Post} */ attempt, /** @type {number} */ index) =>
        html`<${Attempt} key=${index} attempt=${attempt} />`}
    >
      <p><${Button} onClick=${again}>${t("hook-posts-again")}<//></p>
    <//>
  </section>`;
}

/** @param {{attempt: Post}} props */
function Attempt({ attempt }) {
  const { at_ms: at, outcome, error, message_id: messageId, channel_id: channelId, named, times } = attempt;
  const go = () => {
    closeDialogs();
    if (channelId) open(channelId, messageId);
  };
  return html`<li class="managed-row" data-outcome=${outcome}>
    <span class="managed-words">
      <span class=${outcome === "refused" ? "error" : ""}>
        ${outcome === "refused" ? t("hook-refused", { why: why(error ?? "") }) : t(`hook-${outcome}`)}
        ${times > 1 && html` <b>× ${times}</b>`}
      </span>
      ${
        named.length > 0 &&
        html`<small class="quiet" dir="ltr">
          ${named.map(({ path, code }) => [path, code].filter(Boolean).join(": ")).join(", ")}
        </small>`
      }
    </span>
    <small class="quiet"><${Time} ms=${at} style="long" /></small>
    ${messageId && html`<span class="managed-acts"><${Button} onClick=${go}>${t("go-to-message")}<//></span>`}
  </li>`;
}

/** @param {string} code */
function why(code) {
  const name = code.replaceAll("_", "-");
  return knows(`hook-error-${name}`) ? t(`hook-error-${name}`) : code;
}
