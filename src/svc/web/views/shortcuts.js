// Handles the global keyboard shortcuts. The table of shortcuts is also the source of the displayed list.

import { pressToTalk, toggleCamera, toggleDeafened, toggleHand, toggleMic } from "../call/current_call.js";
import { callSettings } from "../state/call_settings.js";
import { textChannels } from "../state/channels.js";
import {
  openedPanel,
  closeSidePanel,
  dialog,
  drawer,
  open,
  currentLocation,
  openSidePanel,
  showDialog,
  target,
  toggleSidePanel,
} from "../state/navigation.js";
import { member } from "../state/server.js";
import { countsOf, readAll } from "../state/unread_counts.js";
import { focusMessageField } from "./parts/focus.js";

/** The shortcuts with their keys, labels and actions. In `keys`, "Ctrl" also means Command on a Mac. */
export const SHORTCUTS = [
  { keys: "Ctrl+K", words: "shortcut-switcher", act: () => showDialog("switcher") },
  { keys: "Ctrl+F", words: "shortcut-search", act: () => openSidePanel("search") },
  { keys: "Ctrl+Alt+N", words: "shortcut-inbox", act: () => toggleSidePanel("inbox") },
  { keys: "Ctrl+,", words: "shortcut-settings", act: () => showDialog("settings") },
  { keys: "Ctrl+/", words: "shortcut-sheet", act: () => showDialog("shortcuts") },
  { keys: "Alt+ArrowUp", words: "shortcut-previous", act: () => step(-1) },
  { keys: "Alt+ArrowDown", words: "shortcut-next", act: () => step(1) },
  { keys: "Alt+Shift+ArrowDown", words: "shortcut-next-unread", act: () => step(1, true) },
  { keys: "Alt+Shift+ArrowUp", words: "shortcut-previous-unread", act: () => step(-1, true) },
  {
    keys: "Shift+Escape",
    words: "shortcut-all-read",
    act: () => readAll(textChannels.value.map(({ id }) => id)),
  },
  { keys: "Ctrl+Shift+M", words: "shortcut-mute", act: () => toggleMic() },
  { keys: "Ctrl+Shift+D", words: "shortcut-deafen", act: () => toggleDeafened() },
  { keys: "Ctrl+Shift+V", words: "shortcut-camera", act: () => toggleCamera() },
  { keys: "Ctrl+Alt+H", words: "shortcut-hand", act: () => toggleHand() },
];

/** Focus the message field when the user types outside any field. @param {KeyboardEvent} event */
function write({ key, ctrlKey, metaKey, altKey, target, code }) {
  if ([...key].length !== 1 || key === " " || ctrlKey || metaKey || altKey || dialog.value) return;
  if (callSettings.value.input === "push" && code === callSettings.value.pushKey) return;
  if (target !== document.body && !(/** @type {Element} */ (target).matches?.(".message, .messages-box")))
    return;
  focusMessageField(currentLocation.value?.channelId ?? currentLocation.value?.conversationId);
}

/**
 * Scroll the messages with Page Up and Page Down while the focus is in a message field that cannot scroll
 * itself.
 * @param {KeyboardEvent} event
 */
function turnPage(event) {
  const by = /** @type {{[key: string]: number}} */ ({ PageUp: -0.9, PageDown: 0.9 })[event.key];
  const field = /** @type {Element} */ (event.target);
  if (!by || !field.matches?.(".draft") || field.scrollHeight > field.clientHeight) return;
  const read = field.closest(".conversation, .thread")?.querySelector(".messages-box");
  event.preventDefault();
  read?.scrollBy({ top: by * read.clientHeight });
}

/** Go to the previous (-1) or next (1) channel, optionally only to unread channels. @param {1 | -1} by */
function step(by, onlyUnread = false) {
  const all = textChannels.value;
  const at = all.findIndex(({ id }) => id === currentLocation.value?.channelId);
  for (let far = 1; far <= all.length; far++) {
    const channel = all[(at + by * far + all.length * far) % all.length];
    if (!onlyUnread || countsOf(channel.id).unread) {
      open(channel.id);
      return;
    }
  }
}

/**
 * Handle the push-to-talk key. Ignore it while the user is typing, because it may be a letter.
 * @param {KeyboardEvent} event
 */
export function onHeldKey(event) {
  const { input, pushKey } = callSettings.value;
  if (input !== "push" || event.code !== pushKey || event.repeat) return;
  if (
    event.type === "keydown" &&
    /** @type {Element} */ (event.target).closest?.("input, textarea, select, [contenteditable]")
  )
    return;
  pressToTalk(event.type === "keydown");
}

/**
 * Treat the push-to-talk key as released. Another window has focus, so the page would miss the keyup event.
 */
export function onAway() {
  if (callSettings.value.input === "push") pressToTalk(false);
}

/**
 * Hide key presses during an input method's composition from all other handlers, because they control the
 * composition. Safari ends the composition before the Enter that confirms it, so that Enter is recognised by
 * its key code.
 * @param {KeyboardEvent} event
 */
export function onComposing(event) {
  if (event.isComposing || event.keyCode === 229) event.stopPropagation();
}

/** @param {KeyboardEvent} event */
export function onShortcut(event) {
  if (member.value === null) return;
  if (event.key === "Escape" && !event.shiftKey) {
    dismiss(event);
    return;
  }
  const shortcut = SHORTCUTS.find(({ keys }) => keys === pressed(event));
  if (!shortcut) {
    turnPage(event);
    write(event);
  }
  if (!shortcut || (dialog.value && shortcut.words !== "shortcut-switcher")) return;
  event.preventDefault();
  shortcut.act();
}

/**
 * Close the view that covers the channel or is next to it. If there is none, mark the channel as read and
 * show its newest message.
 * @param {KeyboardEvent} event
 */
function dismiss(event) {
  if (event.defaultPrevented || dialog.value) return;
  if (drawer.value) drawer.value = false;
  else if (openedPanel.value) closeSidePanel();
  else if (currentLocation.value?.channelId) {
    const { channelId } = currentLocation.value;
    readAll([channelId]);
    target.value = { channelId, newest: true };
  }
}

/** @param {KeyboardEvent} event */
function pressed({ key, ctrlKey, metaKey, altKey, shiftKey }) {
  const name = key.length === 1 ? key.toUpperCase() : key;
  return [ctrlKey || metaKey ? "Ctrl" : "", altKey ? "Alt" : "", shiftKey ? "Shift" : "", name]
    .filter(Boolean)
    .join("+");
}
