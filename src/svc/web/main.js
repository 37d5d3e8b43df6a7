// Loads the strings and the state, and renders the page. This is the web client's entry point.

import { currentCall } from "./call/current_call.js";
import { participants } from "./call/participants.js";
import { resumeSignIn } from "./state/sign_in.js";
import { applyAppearance } from "./state/appearance.js";
import { firstPaint } from "./state/first_paint.js";
import { askInfo, comeBack, isSecure, member } from "./state/server.js";
import { h, render } from "./vendor/preact.js";
import { startAlerts } from "./views/alerts/alerts.js";
import { App } from "./views/app.js";
import { loadStyle } from "./views/parts/lazy_component.js";
import { loadWords } from "./words/words.js";

// An object for experiments and tests. It exposes no secrets.
const handle = {
  get call() {
    return currentCall();
  },
  get people() {
    return participants();
  },
};
Object.defineProperty(window, "svc", { value: Object.freeze(handle) });

const words = loadWords();
applyAppearance();
askInfo();
if (isSecure()) {
  startAlerts();
  comeBack();
  await resumeSignIn();
}
await words;
render(h(App, null), /** @type {HTMLElement} */ (document.getElementById("page")));
// The font and the styles of lazily loaded views are fetched after the first paint. If nobody is signed in,
// the sign-in form has already been rendered here.
const drawn = member.value === null ? new Promise((resolve) => setTimeout(resolve)) : firstPaint;
drawn.then(loadStyle).catch(() => {});
