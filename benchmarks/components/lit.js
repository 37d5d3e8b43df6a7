// The channel from preact.js, rendered with Lit: one element per message, without shadow DOM, keyed by
// `repeat`.

import { html, LitElement, nothing, render } from "lit";
import { repeat } from "lit/directives/repeat.js";

class Message extends LitElement {
  static properties = { message: { attribute: false } };

  createRenderRoot() {
    return this;
  }

  render() {
    const { author, hue, time, text, reactions } = this.message;
    return html`<li class="message" style=${`--hue: ${hue}`}>
      <span class="avatar">${author[0]}</span>
      <div>
        <p><button type="button">${author}</button><time>${time}</time></p>
        <div dir="auto">${text}</div>
        ${
          reactions.length > 0
            ? html`<p>
                ${repeat(
                  reactions,
                  ({ sign }) => sign,
                  ({ sign, count }) => html`<button type="button">${sign} ${count}</button>`,
                )}
              </p>`
            : nothing
        }
      </div>
    </li>`;
  }
}
customElements.define("one-message", Message);

globalThis.draw = (root, messages) =>
  render(
    html`<ol>
      ${repeat(
        messages,
        ({ id }) => id,
        (message) => html`<one-message .message=${message}></one-message>`,
      )}
    </ol>`,
    root,
  );
