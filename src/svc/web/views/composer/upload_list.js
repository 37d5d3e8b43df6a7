// Lists the files of the message being written, each with a preview, its upload progress and any error.

/**
 * @import { OneFile, Uploads } from "../../state/uploads.js"
 *
 * @typedef {{url?: string}} Stored A file in the list, in a channel or a private conversation.
 * @typedef {Pick<OneFile, "key" | "file" | "name" | "state" | "progress" | "waits" | "lasts" | "problem" |
 *   "alt" | "listKey">
 *   & {result: Stored & {kind: string, thumbnail?: Stored | null, poster?: Stored | null} | null}} Shown
 * @typedef {Pick<Uploads, "retry" | "cancel" | "describe" | "spoil"> & {list: {readonly value: Shown[]}}}
 *   Files
 */

import { tryOrNotify } from "../../state/notices.js";
import { isSpoiler, shownName } from "../../state/uploads.js";
import { html, useEffect, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { sizeOf } from "../conversation/attachments.js";
import { Button, IconButton } from "../parts/button.js";
import { Dialog } from "../parts/dialog.js";
import { Field } from "../parts/field.js";
import { withoutBidiControls } from "../markdown/links.js";
import { Icon } from "../parts/icon.js";

/** @param {{uploads: Files}} props */
export function UploadList({ uploads }) {
  const list = uploads.list.value;
  if (!list.length) return null;
  return html`<ul class="upload-list" aria-label=${t("files")}>
    ${list.map(
      (upload) => html`<${Upload} key=${upload.listKey ?? upload.key} upload=${upload} uploads=${uploads} />`,
    )}
  </ul>`;
}

/** @param {{upload: Shown, uploads: Files}} props */
function Upload({ upload, uploads }) {
  const { key, state, progress, waits, lasts, problem, result, file, alt } = upload;
  const name = shownName(upload.name);
  const label = withoutBidiControls(name);
  const spoiler = isSpoiler(upload);
  const [describing, setDescribing] = useState(false);
  const words = {
    sending: waits ? t("upload-waits") : t("upload-sending"),
    checking: t("upload-checking"),
    done: t("upload-done"),
    refused: problem,
  }[state];
  const under = state === "sending" || state === "checking";
  return html`<li data-state=${state}>
    <${Preview} upload=${upload} />
    <span class="upload-name" dir="auto" title=${label}>${label}</span>
    <span class=${state === "refused" ? "error" : "quiet"} role="status">
      ${words}${state === "done" && file ? ` · ${sizeOf(file.size)}` : ""}
    </span>
    ${under && html`<progress max="1" value=${progress} aria-label=${`${words} ${name}`}></progress>`}
    <span class="upload-actions">
      ${
        state !== "refused" &&
        (file || spoiler) &&
        html`<button
          type="button"
          class=${`button chip ${spoiler ? "on" : ""}`}
          disabled=${!file}
          aria-pressed=${spoiler}
          aria-label=${t("spoiler-mark", { name })}
          title=${t("spoiler-mark", { name })}
          onClick=${() => uploads.spoil(key, !spoiler)}
        >
          ${t("spoiler")}
        </button>`
      }
      ${
        state === "done" &&
        result &&
        result.kind !== "file" &&
        html`<${IconButton}
          icon="edit"
          label=${t("describe-file", { name })}
          aria-pressed=${Boolean(alt)}
          onClick=${() => setDescribing(true)}
        />`
      }
      ${
        state === "refused" &&
        file &&
        !lasts &&
        html`<${Button} look="link" onClick=${() => uploads.retry(key)}>${t("try-again")}<//>`
      }
      <${IconButton} icon="close" label=${t("remove-file", { name })} onClick=${() => uploads.cancel(key)} />
    </span>
    ${
      describing &&
      html`<${Describe}
        name=${name}
        alt=${alt ?? ""}
        save=${(/** @type {string} */ words) => uploads.describe(key, words)}
        onClose=${() => setDescribing(false)}
      />`
    }
  </li>`;
}

/**
 * A preview of the image. The local file is shown until the server has processed it. Most browsers cannot
 * show HEIC.
 * @param {{upload: Shown}} props
 */
function Preview({ upload: { file, result } }) {
  const [local, setLocal] = useState("");
  useEffect(() => {
    if (!file?.type.startsWith("image/")) return undefined;
    const url = URL.createObjectURL(file);
    setLocal(url);
    return () => URL.revokeObjectURL(url);
  }, [file]);
  const stored = result && (result.thumbnail ?? result.poster ?? (result.kind === "picture" ? result : null));
  const url = stored?.url ?? local;
  return url
    ? html`<img src=${url} alt="" width="64" height="64" onError=${() => setLocal("")} />`
    : html`<span class="file-sign"><${Icon} name="file" /></span>`;
}

/**
 * A form for an image's alternative text.
 * @param {{name: string, alt: string, save: (words: string) => Promise<void>, onClose: () => void}} props
 */
function Describe({ name, alt, save, onClose }) {
  const [words, setWords] = useState(alt);
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    event.stopPropagation();
    if (await tryOrNotify(save(words.trim()))) onClose();
  };
  return html`<${Dialog} title=${t("describe-file", { name })} onClose=${onClose}>
    <${Field}
      label=${t("description")}
      hint=${t("description-hint")}
      multiline
      rows="3"
      maxlength="1000"
      value=${words}
      onInput=${(/** @type {EventOn<HTMLTextAreaElement>} */ event) => setWords(event.currentTarget.value)}
    />
    <footer>
      <${Button} onClick=${onClose}>${t("cancel")}<//>
      <${Button} look="primary" onClick=${submit}>${t("save")}<//>
    </footer>
  <//>`;
}
