// Renders every component in every state, for people to inspect and for axe to check. `python -m
// tests.design.serve` serves it at /design.

import { PATHS } from "/web/vendor/icons_later.js";
import { html, render, h } from "/web/vendor/preact.js";
import { Avatar, BotSign, hue } from "/web/views/parts/avatar.js";
import { Button, IconButton, SearchButton } from "/web/views/parts/button.js";
import { Choice, Field, Switch } from "/web/views/parts/field.js";
import { addIcons, Icon } from "/web/views/parts/icon.js";
import { Skeletons } from "/web/views/parts/skeletons.js";
import { MORE } from "./more_states.js";
import { loadWords } from "/web/words/words.js";

addIcons(PATHS);
const nothing = () => {};
const COLOURS = [
  ["page", "text"],
  ["nav", "text"],
  ["surface", "text"],
  ["raised", "text"],
  ["chosen", "text"],
  ["surface", "quiet"],
  ["accent-fill", "on-accent"],
  ["danger-fill", "on-danger"],
  ["success-fill", "on-success"],
  ["surface", "success"],
  ["surface", "warning-text"],
  ["highlight", "text"],
  ["notice", "on-notice"],
];
const SIZES = { "--xs": "12 px", "--s": "13 px", "1rem": "15 px", "--l": "18 px", "--xl": "24 px" };
const HUES = Array.from({ length: 24 }, (_, index) => index * 15);

const Part = ({ name, children }) => html`<section aria-label=${name}><h2>${name}</h2>${children}</section>`;

const Type = () =>
  Object.entries(SIZES).map(
    ([token, words]) =>
      html`<p key=${token} style=${{ fontSize: token.startsWith("--") ? `var(${token})` : token }}>
        ${words}: Good morning, Привет, Γειά
      </p>`,
  );

const Colours = () => html`<div class="shelf">
  ${COLOURS.map(
    ([back, front]) =>
      html`<span
        key=${back + front}
        class="colour"
        style=${{ background: `var(--${back})`, color: `var(--${front})` }}
      >
        ${back} ${front}
      </span>`,
  )}
</div>`;

const Buttons = () => html`
  ${["", "primary", "danger", "link", "chip"].map(
    (look) => html`<div class="shelf" key=${look}>
      <${Button} look=${look} onClick=${nothing}>Save changes<//>
      ${!["link", "chip"].includes(look) && html`<${Button} look=${look} icon="invite" onClick=${nothing}>Invite<//>`}
      <${Button} look=${look} disabled onClick=${nothing}>Disabled<//>
    </div>`,
  )}
  <div class="shelf">
    <${SearchButton} label="Search messages" onClick=${nothing} />
    <${IconButton} icon="people" label="Members, open" aria-pressed="true" onClick=${nothing} />
    <${IconButton} icon="mentions" label="Mentions" class="with-news" onClick=${nothing} />
    <${IconButton} icon="flag" label="Reports" class="urgent" onClick=${nothing} />
    <${IconButton} icon="leave" label="Leave" class="danger" onClick=${nothing} />
    <${IconButton} icon="pin" label="Pin, disabled" disabled onClick=${nothing} />
  </div>
`;

const Fields = () => html`
  <${Field} label="Your name" value="Ada Lovelace" />
  <${Field} label="Focused" data-focused value="The ring is one line" />
  <${Field} label="Topic" hint="Shown below the name." placeholder="Beds and seeds" />
  <${Field} label="Nickname" value="" problem="Enter a name." />
  <${Field} label="Disabled" value="Nobody can change this" disabled />
  <${Field} label="Rules" multiline value="Be kind." />
  <label class="field">Text size <select><option>100 %</option></select></label>
  <label class="field">Volume <input type="range" value="60" /></label>
  <${Switch} label="Mirror my camera" hint="Only you see it mirrored." checked onChange=${nothing} />
  <${Switch} label="Use less data" checked=${false} onChange=${nothing} />
  <${Choice}
    label="Message density"
    value="cosy"
    options=${[
      { value: "cosy", label: "Comfortable" },
      { value: "compact", label: "Compact", hint: "Small pictures." },
    ]}
    onChange=${nothing}
  />
`;

const People = () => html`
  <div class="shelf">
    ${["online", "idle", "quiet", "away"].map(
      (presence, index) => html`<${Avatar} key=${presence} id=${String(index)} name="Ada Lovelace" presence=${presence} />`,
    )}
    <${Avatar} id="5" name="Grace" size="small" />
    <${Avatar} id="6" name="李 雷" size="huge" presence="online" />
    <${BotSign} bot />
  </div>
  <p class="shelf">
    ${HUES.map(
      (hue) => html`<span key=${hue} class="coloured" style=${{ "--role": `hsl(${hue} 90% 50%)` }}>Role ${hue}</span>`,
    )}
  </p>
`;

const Row = ({ name, look = "", current, badge, icon = "hash" }) => html`<li>
  <div class="channel-row">
    <button type="button" class=${`channel ${look}`} aria-current=${current ? "page" : undefined}>
      <${Icon} name=${icon} />
      <span class="channel-name">${name}</span>
      ${badge && html`<span class="badge" aria-hidden="true">${badge}</span>`}
    </button>
  </div>
</li>`;

const Navigation = () => html`<div class="sidebar">
  <ul>
    <${Row} name="read" />
    <${Row} name="open" current />
    <${Row} name="unread" look="unread" badge="3" />
    <${Row} name="mentioned" look="unread mentioned" badge="2" />
    <${Row} name="mentioned-very-often-in-a-channel-with-a-long-name" look="unread mentioned" badge="99+" />
    <${Row} name="Voice" icon="voice" />
  </ul>
</div>`;

const Message = ({ id, name, look = "", role, children }) => html`<li class=${`message ${look}`}>
  <span class="avatar-place"><${Avatar} id=${id} name=${name} /></span>
  <div class="body">
    <p class="byline">
      <button type="button" class=${`author ${role ? "coloured" : ""}`} style=${{ "--role": role, "--hue": hue(id) }}>
        ${name}
      </button>
      <time>10:42</time>
    </p>
    <div class="text">${children}</div>
  </div>
</li>`;

const Messages = () => html`<ul>
  <${Message} id="1" name="Ada Lovelace">Good morning! Who brings what?<//>
  <${Message} id="1" name="Ada Lovelace" look="follows">Two tables are there already.<//>
  <${Message} id="2" name="Grace Hopper" role="#e91e63">
    <div class="markdown">I bring <strong>gloves</strong> and <code>seeds</code>.</div>
    <div class="reactions">
      <button type="button" class="reaction" aria-pressed="true">+1 3</button>
      <button type="button" class="reaction" aria-pressed="false">ok 1</button>
    </div>
  <//>
  <${Message} id="3" name="Alan Turing" look="mentions-me">
    <div class="markdown"><button type="button" class="mention own">@you</button> look at this</div>
    <div class="markdown"><div class="code"><pre><code>return -(-people // table)</code></pre></div></div>
  <//>
  <${Message} id="4" name="Edsger Dijkstra" look="pending">On its way<//>
</ul>`;

const Overlays = () => html`
  <div class="menu with-icons" role="menu" aria-label="Menu">
    <p class="menu-heading">This server</p>
    <button type="button" role="menuitem"><${Icon} name="invite" /> <span>Invite people</span></button>
    <button type="button" role="menuitem"><${Icon} name="gear" /> <span>Settings</span></button>
    <button type="button" role="menuitem" class="danger"><${Icon} name="leave" /> <span>Leave</span></button>
  </div>
  <p class="notice">The connection was lost.</p>
  <p class="notice done">Saved.</p>
  <p class="tooltip">Search in this channel</p>
  <p class="shelf">
    ${["ringing", "joining", "connected", "reconnecting"].map(
      (state) => html`<span key=${state} class="pill" data-state=${state}>${state}</span>`,
    )}
  </p>
`;

const Control = ({ icon, label, look = "" }) => html`<button type="button" class=${`control ${look}`}>
  <${Icon} name=${icon} /> <span>${label}</span>
</button>`;

const Call = () => html`<div class="call">
  <div class="shelf">
    <div class="tile person speaking" style=${{ "--hue": 200 }}>
      <i class="glow" style="opacity: 0.7"></i>
      <${Avatar} id="1" name="Ada" size="large" /><span class="label"><span class="name">Speaking</span></span>
    </div>
    <div class="tile person" style=${{ "--hue": 20 }}>
      <${Avatar} id="2" name="Grace" size="large" /><span class="label"><span class="name">Silent</span></span>
    </div>
    <div class="tile person lost" style=${{ "--hue": 120 }}>
      <${Avatar} id="3" name="Alan" size="large" /><span class="label"><span class="name">Connection lost</span></span>
    </div>
  </div>
  <div class="call-controls">
    <${Control} icon="mic" label="Mute" />
    <${Control} icon="mic-off" label="Unmute" look="off" />
    <${Control} icon="camera" label="Stop camera" look="on" />
    <${Control} icon="leave" label="Leave" look="danger" />
  </div>
</div>`;

const Loading = () => html`<${Skeletons} /><${Skeletons} rows=${3} />`;

const PARTS = { Type, Colours, Buttons, Fields, People, Navigation, Messages, Overlays, Call, Loading, ...MORE };

await loadWords();
render(
  html`${Object.entries(PARTS).map(([name, View]) => html`<${Part} key=${name} name=${name}>${h(View, null)}<//>`)}`,
  document.getElementById("states"),
);
document.querySelector("[data-focused]")?.focus();
document.body.dataset.drawn = "true";
