// Tests an automod rule on recent messages before the rule is enabled.

/** @import { Wanted } from "../../state/admin/automod_rules.js" */
/** @import { ResponseBody } from "../../types/wire.js" */

import { channelsById } from "../../state/channels.js";
import { pieces, tryRule } from "../../state/admin/automod_rules.js";
import { html, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Button } from "../parts/button.js";
import { Time } from "../parts/time.js";
import { useFormRequest } from "./parts/form_request.js";

/** @typedef {ResponseBody<"POST", "/api/automod/trial">} TrialResult */

/** @param {{rule: Wanted, onTried: () => void}} props */
export function RuleTrial({ rule, onTried }) {
  const [result, setResult] = useState(/** @type {TrialResult | null} */ (null));
  const { busy, problem, run } = useFormRequest();
  const start = async () => {
    if (await run(async () => setResult(await tryRule(rule)))) onTried();
  };
  return html`<section class="stack trial" aria-label=${t("rule-trial")} aria-busy=${busy}>
    <h4>${t("rule-trial")}</h4>
    <p class="quiet">${t("rule-trial-about")}</p>
    <p><${Button} disabled=${busy} onClick=${start}>${busy ? t("loading") : t("rule-try")}<//></p>
    ${problem && html`<p class="error" role="alert">${problem}</p>`}
    ${
      result &&
      html`<p role="status">
        ${
          result.read
            ? t("rule-trial-found", { found: result.found, read: result.read })
            : t("rule-trial-empty")
        }
      </p>`
    }
    ${
      result &&
      result.messages.length > 0 &&
      html`<ul class="managed">
        ${result.messages.map((message) => html`<${Caught} key=${message.id} message=${message} />`)}
      </ul>`
    }
    ${
      result &&
      result.found > result.messages.length &&
      html`<p class="quiet">${t("rule-trial-more", { count: result.messages.length })}</p>`
    }
  </section>`;
}

/** @param {{message: TrialResult["messages"][number]}} props */
function Caught({ message }) {
  const { text, found, display_name: name, channel_id: channelId, posted_at_ms: at } = message;
  return html`<li class="managed-row report">
    <div class="managed-words">
      <small class="quiet" dir="auto">
        ${name} · ${channelsById.value.get(channelId)?.name} · <${Time} ms=${at} style="long" />
      </small>
      <span dir="auto">
        ${pieces(text, found).map((piece, index) =>
          piece.isMatch ? html`<mark key=${index}>${piece.text}</mark>` : piece.text,
        )}
      </span>
    </div>
  </li>`;
}
