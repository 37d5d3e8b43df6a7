// Renders the larger components: dialogs, the composer, pickers, settings and banners. Also renders hover and
// focus states.

import { html } from "/web/vendor/preact.js";
import { PermissionChoice } from "/web/views/admin/parts/permission.js";
import { Tones } from "/web/views/emoji/picker.js";
import { Avatar, hue } from "/web/views/parts/avatar.js";
import { Button, IconButton } from "/web/views/parts/button.js";
import { Field } from "/web/views/parts/field.js";
import { Icon } from "/web/views/parts/icon.js";
import { SaveBar } from "/web/views/parts/save_bar.js";

const nothing = () => {};
const SIGNS = ["👍", "❤️", "😂", "🎉", "🚀", "👀", "🙏", "🌱"];

const Box = ({ title, look = "", children }) => html`<div class=${`dialog ${look}`}>
  <div class="dialog-body">
    <header>
      <h2>${title}</h2>
      <${IconButton} icon="close" label=${`Close ${title}`} onClick=${nothing} />
    </header>
    ${children}
  </div>
</div>`;

const Dialogs = () => html`
  <${Box} title="Delete the message?">
    <p>This cannot be undone.</p>
    <blockquote>Bread and cheese from me.</blockquote>
    <footer>
      <${Button} onClick=${nothing}>Cancel<//>
      <${Button} look="danger" onClick=${nothing}>Delete<//>
    </footer>
  <//>
  <${Box} title="Create channel">
    <${Field} label="Name" problem="Enter a name." value="" />
    <footer><${Button} look="primary" onClick=${nothing}>Create<//></footer>
  <//>
`;

const Option = ({ icon, id, name, note, chosen }) => html`<li role="option" aria-selected=${chosen === true}>
  ${icon ? html`<${Icon} name=${icon} />` : html`<${Avatar} id=${id} name=${name} size="small" />`}
  <span>${name}</span>
  ${note && html`<small class="quiet">${note}</small>`}
</li>`;

const Switcher = () => html`<${Box} title="Jump to" look="switcher">
  <input aria-label="Channel or person" value="ga" />
  <ul role="listbox" aria-label="Results">
    <${Option} icon="hash" name="garden" chosen />
    <${Option} icon="voice" name="Garage" />
    <${Option} id="7" name="Galileo" />
  </ul>
<//>`;

const Upload = ({ name, state, words, children }) => html`<li data-state=${state}>
  <span class="file-sign"><${Icon} name="file" /></span>
  <span class="upload-name">${name}</span>
  <span class=${state === "refused" ? "error" : "quiet"}>${words}</span>
  ${children}
  <span class="upload-actions">
    <button type="button" class="button chip" aria-pressed="false" aria-label=${`Spoiler: ${name}`}>Spoiler</button>
    <${IconButton} icon="close" label=${`Remove ${name}`} onClick=${nothing} />
  </span>
</li>`;

const Line = ({ label, value = "", send = true, disabled = false }) => html`<div class="row">
  <${IconButton} icon="attach" label=${`Attach to: ${label}`} disabled=${disabled} onClick=${nothing} />
  <textarea class="draft" rows="1" aria-label=${label} placeholder=${label} disabled=${disabled}>${value}</textarea>
  <${IconButton} icon="emoji" label=${`Emoji for: ${label}`} disabled=${disabled} onClick=${nothing} />
  ${send && html`<${IconButton} class="send" icon="send" label=${`Send: ${label}`} disabled=${disabled} onClick=${nothing} />`}
</div>`;

const Composer = () => html`
  <div class="composer"><${Line} label="Message general" /></div>
  <div class="composer"><${Line} label="With text" value="Who brings what?" /></div>
  <div class="composer"><${Line} label="You may not write here." send=${false} disabled /></div>
  <div class="composer">
    <div class="reply-line">
      <${Icon} name="reply" />
      <span class="one-line">Reply to Grace <span class="quiet">I bring gloves and seeds.</span></span>
      <button type="button" class="button chip on" aria-pressed="true">Mention</button>
      <${IconButton} icon="close" label="Do not reply" onClick=${nothing} />
    </div>
    <ul class="upload-list" aria-label="Files">
      <${Upload} name="plan.pdf" state="done" words="Ready · 2 MB" />
      <${Upload} name="a-photo-with-a-very-long-name.jpg" state="sending" words="Sending">
        <progress max="1" value="0.4" aria-label="Sending the photo"></progress>
      <//>
      <${Upload} name="film.mov" state="refused" words="The file is too large." />
    </ul>
    <${Line} label="With a reply and files" />
  </div>
  <ul class="completion" role="listbox" aria-label="Suggestions">
    <${Option} id="2" name="Grace Hopper" note="member" chosen />
    <${Option} icon="hash" name="garden" note="channel" />
  </ul>
  <div class="format-bar" role="toolbar" aria-label="Format">
    ${["B", "I", "S", "</>"].map((sign) => html`<button key=${sign} type="button" class="icon-button">${sign}</button>`)}
  </div>
`;

const Pickers = () => html`
  <div class="emoji-picker">
    <input type="search" aria-label="Find an emoji" placeholder="Find an emoji" />
    <div class="emoji-categories" role="toolbar" aria-label="Categories">
      ${SIGNS.map((sign) => html`<button key=${sign} type="button">${sign}</button>`)}
    </div>
    <div class="emoji-grid plain-grid">
      <span class="emoji-head">Recent</span>
      ${SIGNS.map((sign) => html`<button key=${sign} type="button">${sign}</button>`)}
    </div>
    <footer><span class="emoji-met">Thumbs up :+1:</span> <${Tones} tone=${2} onChoose=${nothing} /></footer>
  </div>
  <ul>
    <li class="message">
      <span class="avatar-place"><${Avatar} id="1" name="Ada" /></span>
      <div class="body"><p class="byline"><b class="author">Ada</b></p><div class="text">Its buttons</div></div>
      <div class="actions-lane in-use">
        <div class="actions" role="group" aria-label="The message">
          <button type="button" class="icon-button quick" aria-pressed="true" aria-label="Thumbs up">👍</button>
          <${IconButton} icon="emoji" label="React" onClick=${nothing} />
          <${IconButton} icon="reply" label="Replying to the message" onClick=${nothing} />
          <${IconButton} icon="more" label="More" onClick=${nothing} />
        </div>
      </div>
    </li>
  </ul>
`;

const Entry = ({ icon, words, look, note, children }) => html`<li class=${`managed-row ${look ?? ""}`}>
  <${Icon} name=${icon} />
  <span class="managed-words"><span>${words}</span><small class="quiet">${note}</small></span>
  <span class="managed-acts">${children}</span>
</li>`;

const Settings = () => html`
  <div class="settings-pages">
    <nav aria-label="Pages">
      <ul>
        <li class="settings-heading">You</li>
        <li><button type="button" aria-current="page"><${Icon} name="people" /> Profile</button></li>
        <li><button type="button"><${Icon} name="bell" /> Notifications</button></li>
      </ul>
    </nav>
  </div>
  <ul class="managed" aria-label="Rows">
    <${Entry} icon="hash" words="general" note="Everybody reads it.">
      <${Button} onClick=${nothing}>Edit<//>
    <//>
    <${Entry} icon="trash" words="attic" note="Archived">
      <${Button} look="danger" onClick=${nothing}>Delete<//>
    <//>
  </ul>
  <p class="quiet nothing">Nobody is banned.</p>
  <${SaveBar} onDiscard=${nothing} />
  ${["allow", "neutral", "deny"].map(
    (word) => html`<${PermissionChoice}
      key=${word}
      name="send_messages"
      value=${word}
      result=${word !== "deny"}
      disabled=${false}
      onChange=${nothing}
    />`,
  )}
`;

const Rail = () => html`<div class="rail-states">
  <div class="rail">
    <ul>
      ${["", "unread", "unread mentioned"].map(
        (look, index) => html`<li key=${look} class=${look}>
          <a href="#rail" aria-current=${index ? undefined : "page"} aria-label=${`Server ${index}`}>
            <span class="face" style=${{ "--hue": hue(String(index)) }} data-initials="GC"></span>
          </a>
          ${look && html`<span class="badge" aria-hidden="true">99+</span>`}
        </li>`,
      )}
    </ul>
  </div>
</div>`;

const Cards = () => html`
  <article class="webhook-card">
    <p class="card-author">Build</p>
    <h3><a href="#card">Tests have passed</a></h3>
    <div class="text">All 4,000 of them.</div>
    <dl>
      <div class="inline"><dt>Branch</dt><dd>main</dd></div>
      <div class="inline"><dt>Time</dt><dd>4 min</dd></div>
    </dl>
    <p class="card-footer">Today, 10:42</p>
  </article>
  <article class="preview">
    <p class="quiet">example.org</p>
    <h3><a href="#preview">Benches for gardens</a></h3>
    <p class="preview-text">Wood, stone, and grass.</p>
  </article>
  <p class="file"><${Icon} name="file" /> <a href="#file">plan.pdf</a> <span class="quiet">2 MB</span></p>
  <div class="covered cover-state"><button type="button" class="cover"><span>Spoiler</span></button></div>
  <button type="button" class="answers unread">
    <span>3 replies</span> <span class="badge">2 unread</span> <span class="quiet">5 minutes ago</span>
  </button>
`;

const Banners = () => html`
  <p class="banner">A new version is here. <${Button} look="link" onClick=${nothing}>Load it<//></p>
  <p class="connection">Reconnecting…</p>
  <p class="news"><button type="button">12 new messages</button></p>
  <p class="shelf"><button type="button" id="to-end" class="button">Jump to latest</button></p>
  <section class="call-bar" aria-label="The current call">
    <span class="where"><strong>Connected</strong> <span class="quiet">Voice</span></span>
    <${IconButton} icon="mic-off" label="Unmute yourself" class="off" onClick=${nothing} />
    <${IconButton} icon="leave" label="Leave the call" class="danger" onClick=${nothing} />
  </section>
  <section class="newcomer" aria-label="Greeting">
    <header>
      <img src="/web/icon.svg" alt="" width="44" height="44" />
      <h2>Welcome to Garden club</h2>
      <${IconButton} icon="close" label="Close the greeting" onClick=${nothing} />
    </header>
    <p>Beds and seeds</p>
  </section>
  <p class="hands"><span class="pill">Grace <${Button} icon="close" onClick=${nothing}>Lower<//></span></p>
  <div class="incoming-state"><span class="badge">Timed out</span> <mark class="found">found</mark></div>
`;

/** The same elements in a state that the test forces, such as hover. */
const Forced = ({ state }) => html`<div class="forced" data-forced=${state}>
  <div class="shelf">
    <${Button} onClick=${nothing}>${state}<//>
    <${Button} look="primary" onClick=${nothing}>${state}<//>
    <${Button} look="link" onClick=${nothing}>${state}<//>
    <${IconButton} icon="search" label=${`Search, ${state}`} onClick=${nothing} />
  </div>
  <div class="channel-row"><button type="button" class="channel"><${Icon} name="hash" /> ${state}</button></div>
  <input aria-label=${state} value=${state} />
  <button type="button" class="reaction" aria-pressed="false">👍 ${state}</button>
</div>`;

const States = () => html`<${Forced} state="hover" /><${Forced} state="focus-visible" />`;

export const MORE = { Dialogs, Switcher, Composer, Pickers, Settings, Rail, Cards, Banners, States };
