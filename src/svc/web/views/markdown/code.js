// Renders a code block with a copy button. The highlighter is loaded when the first block that specifies a
// language is shown.

import { html, useEffect, useRef, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";

const COPIED_MS = 2_000;

/** @typedef {import("./highlight.js").Piece} Piece */

/** @param {{code: string, language?: string}} properties */
export function Code({ code, language = "" }) {
  const pieces = useColours(code, language);
  const [copied, setCopied] = useState(false);
  const shown = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    if (!copied) return undefined;
    const timer = setTimeout(() => setCopied(false), COPIED_MS);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = async () => setCopied(await copyText(code, shown.current));
  return html`<div class="code" dir="ltr">
    <pre tabindex="0"><code ref=${shown}>${pieces ? pieces.map(piece) : code}</code></pre>
    <button type="button" class="copy" onClick=${copy}>
      ${copied ? t("markdown-copied") : t("markdown-copy")}
    </button>
    <span class="said" role="status">${copied ? t("markdown-copied") : ""}</span>
  </div>`;
}

/** @param {string} code @param {string} language @returns {Piece[] | null} */
function useColours(code, language) {
  const [coloured, setColoured] = useState(
    /** @type {{code: string, language: string, pieces: Piece[] | null} | null} */ (null),
  );
  useEffect(() => {
    if (!language) return undefined;
    let wanted = true;
    import("./highlight.js").then(
      ({ highlight }) => {
        if (wanted) setColoured({ code, language, pieces: highlight(code, language) });
      },
      () => {}, // If loading fails, for example offline, the code is shown without colours.
    );
    return () => {
      wanted = false;
    };
  }, [code, language]);
  return coloured?.code === code && coloured.language === language ? coloured.pieces : null;
}

/** @param {Piece} part @returns {any} */
function piece(part) {
  return typeof part === "string"
    ? part
    : html`<span class=${`code-${part.kind}`}>${part.children.map(piece)}</span>`;
}

/**
 * @param {string} text
 * @param {HTMLElement | null} element the element with the text
 * @returns {Promise<boolean>}
 */
async function copyText(text, element) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Without TLS, the clipboard API is unavailable, but execCommand works.
    if (element) getSelection()?.selectAllChildren(element);
    return document.execCommand("copy");
  }
}
