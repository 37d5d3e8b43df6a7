// Shows code and settings for posting to a webhook from other programs, ready to copy.

import { html, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Button } from "../parts/button.js";
import { copy, Copyable } from "../parts/copy_field.js";

/**
 * For each program, the text to copy, or the labels and values of the fields in the program's own form.
 * @type {{[program: string]: (url: string) => string | [name: string, value: string][]}}
 */
const SNIPPETS = {
  curl: (url) => `curl --data '{"text": "The build is **green**"}' '${url}'`,
  Python: (url) => `import json, urllib.request

body = json.dumps({"text": "The build is **green**"}).encode()
headers = {"Content-Type": "application/json"}
urllib.request.urlopen(urllib.request.Request("${url}", body, headers))`,
  GitHub: (url) => [
    ["Payload URL", `${url}/github`],
    ["Content type", "application/json"],
  ],
  Grafana: (url) => [
    ["Integration", "Discord"],
    ["Webhook URL", `${url}/discord`],
  ],
  Alertmanager: (url) =>
    `receivers:\n  - name: chat\n    discord_configs:\n      - webhook_url: ${url}/discord`,
  Discord: (url) => [["Webhook URL", `${url}/discord`]],
  Slack: (url) => [["Webhook URL", `${url}/slack`]],
};

/** @param {{address: string}} props */
export function Snippets({ address }) {
  const [open, setOpen] = useState("curl");
  const shown = SNIPPETS[open](address);
  return html`<section class="stack">
    <h4>${t("snippets")}</h4>
    <div class="filters" role="group" aria-label=${t("snippets")}>
      ${Object.keys(SNIPPETS).map(
        (name) =>
          html`<${Button}
            key=${name}
            look=${`chip ${name === open ? "on" : ""}`}
            aria-pressed=${name === open}
            onClick=${() => setOpen(name)}
          >
            ${name}
          <//>`,
      )}
    </div>
    ${
      Array.isArray(shown)
        ? shown.map(
            ([field, value]) => html`<${Copyable} key=${`${open} ${field}`} label=${field} text=${value} />`,
          )
        : html`
            <pre class="snippet" dir="ltr" tabindex="0">${shown}</pre>
            <p><${Button} icon="copy" onClick=${() => copy(shown)}>${t("snippet-copy")}<//></p>
          `
    }
  </section>`;
}
