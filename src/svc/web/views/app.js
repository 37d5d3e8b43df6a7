// Renders the web client: the sign-in view, or the channel list, the open channel with its side panel, and
// any dialogs.

/** @import { Channel } from "../types/api.js" */
/** @import { RefObject } from "../vendor/preact.js" */

import { callChannel, callState, deafened, sending } from "../call/current_call.js";
import { channelsById } from "../state/channels.js";
import { firstPaint, painted } from "../state/first_paint.js";
import {
  arrival,
  sidePanel,
  closeSidePanel,
  closeDialog,
  dialog,
  drawer,
  currentLocation,
} from "../state/navigation.js";
import { dismiss, notices } from "../state/notices.js";
import { ringing } from "../state/private_calls.js";
import { conversationsById, nameOf, privateUnread } from "../state/private_conversations.js";
import { connection, info, member } from "../state/server.js";
import { totals } from "../state/unread_counts.js";
import {
  html,
  useComputed,
  useEffect,
  useErrorBoundary,
  useLayoutEffect,
  useRef,
  useSignalEffect,
} from "../vendor/preact.js";
import { CallBar, callElsewhere } from "./call/call_bar.js";
import { Sidebar } from "./channels/sidebar.js";
import { Conversation } from "./conversation/conversation.js";
import { Banners } from "./installation/banners.js";
import { ASIDES, DIALOGS } from "./panel_registry.js";
import { Button, IconButton } from "./parts/button.js";
import { Lazy } from "./parts/lazy_component.js";
import { onAway, onComposing, onHeldKey, onShortcut } from "./shortcuts.js";
import { SignInView } from "./sign_in/sign_in.js";
import { t } from "../words/words.js";

const CallView = Lazy(() => import("./call/call_view.js"), "CallView");
const Ringing = Lazy(() => import("./private/incoming_call.js"), "Ringing");
const PrivateConversation = Lazy(() => import("./private/conversation.js"), "PrivateConversation");

export function App() {
  const [fault, again] = useErrorBoundary((error) => {
    // Pass the error to the global error handlers. The error view below replaces the partly rendered page.
    reportError(error);
  });
  useEffect(() => {
    /** @type {["keydown" | "keyup", (event: KeyboardEvent) => void][]} */
    const listeners = [
      ["keydown", onShortcut],
      ["keydown", onHeldKey],
      ["keyup", onHeldKey],
    ];
    for (const [event, listener] of listeners) document.addEventListener(event, listener);
    addEventListener("keydown", onComposing, true);
    addEventListener("blur", onAway);
    return () => {
      for (const [event, listener] of listeners) document.removeEventListener(event, listener);
      removeEventListener("keydown", onComposing, true);
      removeEventListener("blur", onAway);
    };
  }, []);
  // The title is a computed signal, because unread counts change with every message, but the title rarely
  // does.
  const titled = useComputed(title);
  useSignalEffect(() => {
    document.title = titled.value;
  });
  useSignalEffect(() => {
    const arrived = arrival.value;
    if (arrived)
      firstPaint
        .then(() => import("../state/browser_history.js"))
        .then(
          ({ startHistory }) => startHistory(arrived),
          () => {},
        );
  });
  if (fault)
    return html`<main class="empty">
      <h1>${t("fault-title")}</h1>
      <p>${t("fault-text")}</p>
      <${Button} look="primary" onClick=${again}>${t("try-again")}<//>
    </main>`;
  return html`
    ${member.value === null ? html`<${SignInView} />` : html`<${Banners} /><${Home} />`}
    <${Overlay} />
    ${ringing.value && html`<${Ringing} key=${ringing.value.conversationId} />`}
    <${Notices} />
  `;
}

function Home() {
  const channel = channelsById.value.get(currentLocation.value?.channelId ?? "");
  const conversationId = currentLocation.value?.conversationId;
  // All side panels except the member list belong to a channel.
  const at = sidePanel.value;
  const Beside = at && (channel || at.name === "members") ? ASIDES[at.name] : null;
  return html`<div
    class="home"
    data-drawer=${drawer.value ? "open" : "shut"}
    data-aside=${Beside ? "open" : "shut"}
    data-call-bar=${callElsewhere() ? "" : undefined}
  >
    <${Sidebar} />
    ${
      drawer.value &&
      html`<div
        class="scrim"
        onClick=${() => {
          drawer.value = false;
        }}
      ></div>`
    }
    <${CallBar} />
    ${
      channel
        ? html`<${Room} key=${channel.id} channel=${channel} />`
        : conversationId
          ? html`<${PrivateConversation} key=${conversationId} conversationId=${conversationId} />`
          : html`<${Nowhere} />`
    }
    ${
      at &&
      Beside &&
      html`<aside
        class="aside"
        key=${at.name}
        onClick=${(/** @type {EventOn<HTMLElement>} */ { target, currentTarget }) => {
          if (target === currentTarget) closeSidePanel();
        }}
      >
        <${Beside} channel=${channel} ...${at} onClose=${closeSidePanel} />
      </aside>`
    }
  </div>`;
}

/** @param {{channel: Channel}} props */
function Room({ channel }) {
  return channel.type === "voice"
    ? html`<${CallView} channel=${channel} />`
    : html`<${Conversation} channel=${channel} />`;
}

/** The view that is shown while no channel is open. */
function Nowhere() {
  const state = connection.value; // The rendered state. It may change before the effect runs.
  useEffect(() => {
    if (state !== "connecting") painted();
  }, [state]);
  const words =
    state === "connecting" ? t("connecting") : state === "online" ? t("no-channels") : t("offline-text");
  return html`<main class="empty"><h1 class="quiet">${words}</h1></main>`;
}

function Overlay() {
  const shown = [dialog.value?.under, dialog.value].filter((opened) => !!opened);
  return shown.map(
    (opened) =>
      DIALOGS[opened.name] &&
      html`<${DIALOGS[opened.name]} key=${opened.name} ...${opened} onClose=${() => closeDialog(opened)} />`,
  );
}

function title() {
  const server = info.value?.name || "svc";
  const channel = channelsById.value.get(
    callState.value !== "none" && !currentLocation.value
      ? (callChannel.value ?? "")
      : (currentLocation.value?.channelId ?? ""),
  );
  const conversation = conversationsById.value.get(currentLocation.value?.conversationId ?? "");
  const openName = channel?.name ?? (conversation && nameOf(conversation));
  const name = openName && member.value ? `${openName} · ${server}` : server;
  const mentions = totals.value.mentions + privateUnread.value;
  const { unread } = totals.value;
  const call = callState.value === "none" ? "" : deafened.value ? "🔕 " : sending.value.mic ? "🎙 " : "🔇 ";
  return call + (mentions ? `(${mentions}) ${name}` : unread ? `• ${name}` : name);
}

export function Notices() {
  /** @type {RefObject<HTMLElement>} */
  const list = useRef(null);
  const shown = notices.value.length > 0;
  useLayoutEffect(() => {
    // Reopen the popover to move it above dialogs that have opened since.
    if (list.current.matches(":popover-open")) list.current.hidePopover();
    if (shown) list.current.showPopover();
  }, [notices.value]);
  return html`<div class="notices" role="alert" aria-live="assertive" popover="manual" ref=${list}>
    ${notices.value.map(
      ({ id, text, kind }) => html`<div class=${`notice ${kind}`} key=${id}>
        <span dir="auto">${text}</span>
        <${IconButton} icon="close" label=${t("dismiss")} onClick=${() => dismiss(id)} />
      </div>`,
    )}
  </div>`;
}
