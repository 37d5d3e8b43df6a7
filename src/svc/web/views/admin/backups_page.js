// Creates, downloads and deletes backups of the server. Backups can be restored only on the server's machine.

/** @import { Backup } from "../../types/api.js" */

import { timesChanged } from "../../state/admin/change_counters.js";
import { addressOfBackup, backups, deleteBackup, makeBackup } from "../../state/admin/server_operation.js";
import { tryOrNotify } from "../../state/notices.js";
import { html, useEffect, useState } from "../../vendor/preact.js";
import { bytesOf, t } from "../../words/words.js";
import { Button } from "../parts/button.js";
import { Confirm } from "../parts/dialog.js";
import { Icon } from "../parts/icon.js";
import { Time } from "../parts/time.js";
import { useResponse } from "./parts/form_request.js";
import { ListPage, Row } from "./parts/list_page.js";

const LOOK_MS = 2000; // Poll, because the server does not push a backup's progress.

export function BackupsPage() {
  const { value, problem, set, again } = useResponse(backups, [timesChanged("backups")]);
  const [deleting, setDeleting] = useState(/** @type {Backup | null} */ (null));
  const making = value?.making;
  useEffect(() => {
    if (!making) return undefined;
    const timer = setTimeout(again, LOOK_MS);
    return () => clearTimeout(timer);
  }, [value]);
  const download = async (/** @type {string} */ name) => {
    const url = await addressOfBackup(name);
    const link = Object.assign(document.createElement("a"), { href: url, download: name });
    link.click();
  };
  const remove = async () => {
    if (deleting && (await tryOrNotify(deleteBackup(deleting.name)))) again();
  };
  return html`
    <${ListPage}
      label=${t("settings-backups")}
      about=${t("backups-about")}
      items=${value?.backups ?? null}
      problem=${problem}
      again=${again}
      empty=${t("no-backups")}
      row=${(/** @type {Backup} */ backup) => html`<${Row}
        key=${backup.name}
        title=${html`<${Time} ms=${backup.made_at_ms} style="long" />`}
        text=${bytesOf(backup.bytes)}
        sign=${html`<${Icon} name="file" />`}
      >
        <${Button} icon="down" onClick=${() => tryOrNotify(download(backup.name))}>${t("backup-download")}<//>
        <${Button} icon="trash" onClick=${() => setDeleting(backup)}>${t("backup-delete")}<//>
      <//>`}
    >
      <p>
        <${Button}
          look="primary"
          disabled=${!value || Boolean(making)}
          onClick=${() => tryOrNotify(makeBackup().then(set))}
        >
          ${t("backup-make")}
        <//>
      </p>
      ${
        making &&
        html`<label class="field" role="status">
          ${t("backup-making")}
          <progress
            max=${making.total || undefined}
            value=${making.total > 1 ? making.done : undefined}
          ></progress>
        </label>`
      }
      ${value?.fault && html`<p class="error" role="alert">${value.fault}</p>`}
    <//>
    <p class="quiet">${t("backups-restore")}</p>
    ${
      deleting &&
      html`<${Confirm}
        title=${t("backup-delete-title")}
        text=${t("backup-delete-text")}
        action=${t("backup-delete")}
        onConfirm=${remove}
        onClose=${() => setDeleting(null)}
      />`
    }
  `;
}
