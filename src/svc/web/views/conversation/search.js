// Shows the side panel for searching all channels that the user can view.

/** @import { FilterNames, Wrong } from "../../state/search_filters.js" */
/** @import { Channel, Message } from "../../types/api.js" */
/** @import { RefObject } from "../../vendor/preact.js" */

import { channels, channelsById } from "../../state/channels.js";
import { openedPanel, showDialog } from "../../state/navigation.js";
import { loadMembers, members } from "../../state/people.js";
import {
  begun,
  completed,
  extended,
  FILTERS,
  foundIn,
  KINDS,
  sent,
  values,
  wantedWords,
  wrong,
} from "../../state/search_filters.js";
import { api } from "../../state/server.js";
import { html, useLayoutEffect, useRef, useState } from "../../vendor/preact.js";
import { goTo, MessageLine } from "./message_line.js";
import { EmptyState, SidePanel, useSearchResults } from "../parts/side_panel.js";
import { Button } from "../parts/button.js";
import { explain, formatList, t } from "../../words/words.js";

/** @typedef {{query: string, messages: Message[], more: boolean, problem: string}} SearchResults */

/** @param {{channel?: Channel, onClose: () => void}} props */
export function Search({ channel, onClose }) {
  const [filterNames] = useState(namedHere);
  /** @type {RefObject<HTMLInputElement>} */
  const field = useRef(null);
  /** @type {RefObject<HTMLElement>} */
  const lines = useRef(null);
  const [opened] = useState(openedPanel.peek());
  /** @type {ReturnType<typeof useSearchResults<SearchResults>>} */
  const [before, follow] = useSearchResults(opened, field, lines);
  const [query, setQuery] = useState(before?.query ?? "");
  const [results, setResults] = useState(before ?? null);
  const [busy, setBusy] = useState(false);
  const turn = useRef(0); // The number of the latest search. Results of earlier searches are dropped.
  useLayoutEffect(
    () => highlightWords(lines.current, wantedWords(results?.query ?? "", filterNames)),
    [results],
  );
  const find = async (/** @type {string} */ wanted, /** @type {string | null} */ before = null) => {
    if (!wanted.trim()) return;
    turn.current += 1;
    const mine = turn.current;
    const problem = wrong(wanted, filterNames);
    if (problem) {
      setBusy(false);
      setResults({ query: wanted, messages: [], more: false, problem: refusalText(problem, filterNames) });
      return;
    }
    setBusy(true);
    // A filter in the query may contain the beginning of a member's name, so all names are needed.
    if (/[:：]/u.test(wanted)) await loadMembers().catch(() => {});
    const parameters = new URLSearchParams({
      query: sent(wanted, filterNames, members.value.values()),
      ...(before && { before }),
    });
    const answer = await api("GET", `/api/search?${parameters}`).then(
      ({ messages, more }) => ({
        query: wanted,
        messages: before ? [...(results?.messages ?? []), ...messages] : messages,
        more,
        problem: "",
      }),
      (error) => ({ query: wanted, messages: [], more: false, problem: explain(error) }),
    );
    if (mine !== turn.current) return;
    setResults(answer);
    setBusy(false);
  };
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    find(query);
  };
  const write = (/** @type {string} */ changed) => {
    setQuery(changed);
    field.current.focus();
  };
  const unfinished = begun(query, filterNames);
  if (unfinished?.filter === "from") loadMembers().catch(() => {});
  const offered =
    unfinished &&
    values(
      unfinished,
      { members: members.value.values(), channels: channels.value.filter(({ type }) => type !== "category") },
      filterNames,
    );
  const take = (/** @type {string} */ value) => unfinished && write(completed(query, unfinished, value));
  return html`<${SidePanel} title=${t("search")} onClose=${onClose}>
    <form role="search" onSubmit=${submit}>
      <input
        ref=${field}
        type="search"
        dir="auto"
        aria-label=${t("search-field")}
        placeholder=${t("search-field")}
        maxlength="256"
        value=${query}
        onInput=${(/** @type {EventOn<HTMLInputElement>} */ event) => setQuery(event.currentTarget.value)}
      />
    </form>
    <p class="filters">
      ${FILTERS.map(
        (filter) =>
          html`<${Button}
            key=${filter}
            look="chip"
            onClick=${() => write(extended(query, filter, filterNames))}
          >
            ${filterNames.filters[filter]}:
          <//>`,
      )}
    </p>
    ${
      offered &&
      offered.length > 0 &&
      html`<ul class="filters" aria-label=${t("search-filter-values")}>
        ${offered.map(
          (value) =>
            html`<li key=${value}>
              <${Button} look="chip on" dir="auto" onClick=${() => take(value)}>${value}<//>
            </li>`,
        )}
      </ul>`
    }
    ${
      (unfinished?.filter === "before" || unfinished?.filter === "after") &&
      html`<p>
        <input
          type="date"
          aria-label=${t("date")}
          onChange=${(/** @type {EventOn<HTMLInputElement>} */ event) => take(event.currentTarget.value)}
        />
      </p>`
    }
    ${
      channel?.type === "text" &&
      html`<p>
        <${Button} look="chip" onClick=${() => showDialog("jump", { channelId: channel.id })}>
          ${t("jump-to-date")}
        <//>
      </p>`
    }
    <div aria-live="polite" aria-busy=${busy}>
      ${busy && html`<p class="quiet">${t("searching")}</p>`}
      ${!busy && results?.problem && html`<p class="error">${results.problem}</p>`}
      ${
        !busy &&
        results &&
        !results.problem &&
        results.messages.length > 0 &&
        html`<p class="quiet">
          ${t("search-count", { count: results.messages.length, more: results.more ? "yes" : "no" })}
        </p>`
      }
      ${
        !busy &&
        results?.messages.length === 0 &&
        !results.problem &&
        results.query === query &&
        html`<${EmptyState} icon="search">${t("search-nothing")}<//>`
      }
    </div>
    <ul class="message-lines" ref=${lines}>${results?.messages.map(
      (message, at) => html`<${MessageLine}
        key=${message.id}
        message=${message}
        where=${channelsById.value.get(message.channel_id)?.name}
        onOpen=${() => {
          follow(results, at);
          goTo(message);
        }}
      />`,
    )}</ul>
    ${
      results?.more &&
      html`<${Button} disabled=${busy} onClick=${() => find(results.query, results.messages.at(-1)?.id)}>
        ${t("search-more")}
      <//>`
    }
  <//>`;
}

/**
 * Highlight words in the displayed messages. Return a function that removes the highlights.
 * @param {HTMLElement} lines
 * @param {string[]} words
 */
function highlightWords(lines, words) {
  if (!globalThis.Highlight) return undefined; // Firefox before version 140 cannot highlight.
  const highlight = new Highlight();
  for (const text of lines.querySelectorAll(".message-line > .text")) {
    const walker = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const node = /** @type {Text} */ (walker.currentNode);
      for (const [start, end] of foundIn(node.data, words)) {
        const range = new Range();
        range.setStart(node, start);
        range.setEnd(node, end);
        highlight.add(range);
      }
    }
  }
  CSS.highlights.set("found", highlight);
  return () => CSS.highlights.delete("found");
}

/** @returns {FilterNames} */
const namedHere = () => ({
  filters: {
    from: t("search-from"),
    in: t("search-in"),
    has: t("search-has"),
    before: t("search-before"),
    after: t("search-after"),
  },
  kinds: Object.fromEntries(KINDS.map((kind) => [kind, t(`search-has-${kind}`)])),
});

/** @param {Wrong} wrong @param {FilterNames} named */
function refusalText({ why, filter, value }, { filters, kinds }) {
  if (why === "kind")
    return t("search-kind-unknown", {
      value,
      filter: filters[filter],
      kinds: formatList(Object.values(kinds)),
    });
  if (why === "day") return t("search-day-unknown", { value });
  return t("search-day-excluded", {
    filter: filters[filter],
    other: filters[filter === "before" ? "after" : "before"],
  });
}
