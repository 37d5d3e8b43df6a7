// A message with a card, put together in fields: as it will look, and the JSON that a program sends for it.

import { postTo } from "../../state/managing/server.js";
import { notify } from "../../state/notices.js";
import { html, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Card } from "../conversation/card.js";
import { Button } from "../parts/button.js";
import { copy } from "../parts/copying.js";
import { Field } from "../parts/field.js";
import { ColourChoice } from "./colour_choice.js";
import { useAsking } from "./parts/asking.js";

const FIELDS = [{ key: "text", most: 4000 }, { key: "title", most: 256 }, { key: "url", most: 2048 }, { key: "description", most: 4000, rows: 3 }, { key: "footer", most: 2048 }];

export function CardComposer({ address }) {
  const [said, setSaid] = useState({ text: t("card-first-text"), title: "", url: "", description: "", footer: "", color: null });
  const { busy, problem, run } = useAsking();
  const payload = payloadOf(said);
  const json = JSON.stringify(payload, null, 2);
  const card = payload.cards?.[0];
  const post = async (event) => {
    event.preventDefault();
    let answer;
    if (await run(async () => { answer = await postTo(address, payload); })) notify(answer.warnings.length ? answer.warnings.map(({ message }) => message).join(" ") : t("card-posted"), answer.warnings.length ? "error" : "done");
  };
  return html`<form class="stack composing" onSubmit=${post} novalidate><h4>${t("card-try")}</h4><p class="quiet">${t("card-try-about")}</p>
    ${FIELDS.map(({ key, most, rows }) => html`<${Field} key=${key} label=${t(`card-${key}`)} value=${said[key]} maxlength=${most} multiline=${Boolean(rows)} rows=${rows} onInput=${(event) => setSaid({ ...said, [key]: event.currentTarget.value })} />`)}
    <${ColourChoice} value=${said.color} onChange=${(color) => setSaid({ ...said, color })} />
    <div class="preview-and-json"><section aria-label=${t("card-preview")}><h5>${t("card-preview")}</h5>${said.text && html`<p dir="auto">${said.text}</p>`}${card && html`<${Card} card=${shownCard(card)} />`}</section>
      <section aria-label=${t("card-json")}><h5>${t("card-json")}</h5><pre class="snippet" dir="ltr" tabindex="0">${json}</pre></section></div>
    ${problem && html`<p class="error" role="alert">${problem}</p>`}
    <footer class="buttons"><${Button} icon="copy" onClick=${() => copy(json)}>${t("card-copy-json")}<//><${Button} look="primary" type="submit" disabled=${busy}>${t("card-post")}<//></footer>
  </form>`;
}

/** What a program would send. A card needs a title or a description. */
function payloadOf({ text, title, url, description, footer, color }) {
  const hex = color === null ? null : `#${color.toString(16).padStart(6, "0")}`;
  const card = { ...(title && { title }), ...(title && url && { url }), ...(description && { description }), ...(hex && { color: hex }), ...(footer && { footer: { text: footer } }) };
  return { ...(text && { text }), ...((title || description) && { cards: [card] }) };
}

/** The card as messages have it. */
const shownCard = ({ color, ...card }) => ({ fields: [], ...card, color: color ? parseInt(color.slice(1), 16) : null });
