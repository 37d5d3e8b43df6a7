// A channel of messages as in the web client: one memoized component per message, rendered with Preact and
// htm.

import { h, html, memo, render } from "vendor/preact.js";

const Message = memo(({ message }) => {
  const { author, hue, time, text, reactions } = message;
  return html`<li class="message" style=${{ "--hue": hue }}>
    <span class="avatar">${author[0]}</span>
    <div>
      <p><button type="button">${author}</button><time>${time}</time></p>
      <div dir="auto">${text}</div>
      ${
        reactions.length > 0 &&
        html`<p>
          ${reactions.map(
            ({ sign, count }) => html`<button type="button" key=${sign}>${sign} ${count}</button>`,
          )}
        </p>`
      }
    </div>
  </li>`;
});

const Channel = ({ messages }) =>
  html`<ol>${messages.map((message) => html`<${Message} key=${message.id} message=${message} />`)}</ol>`;

globalThis.draw = (root, messages) => render(h(Channel, { messages }), root);
