// The picture of a private conversation: the other member's, or in groups those of the first two.

/** @import { PrivateConversation } from "../../state/private_conversations.js" */

import { memberOf, presenceOf } from "../../state/people.js";
import { othersOf } from "../../state/private_conversations.js";
import { html } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Avatar } from "../parts/avatar.js";
import { Icon } from "../parts/icon.js";

/** @param {{conversation: Pick<PrivateConversation, "members" | "two">}} props */
export function ConversationPicture({ conversation }) {
  const shown = othersOf(conversation).slice(0, conversation.two ? 1 : 2);
  const pictures = shown.map((id) => {
    const person = memberOf(id);
    return html`<${Avatar}
      key=${id}
      id=${id}
      name=${person?.nickname ?? t("somebody")}
      url=${person?.avatar}
      presence=${conversation.two ? presenceOf(id) : undefined}
      size="small"
    />`;
  });
  if (!shown.length) return html`<${Icon} name="people" />`;
  return shown.length > 1 ? html`<span class="several">${pictures}</span>` : pictures;
}
