// The messages of one text channel that the page holds: a window onto its history, which moves as
// one scrolls and follows what is pushed. Draws nothing; what it needs from the server, `ask` fetches.

const PAGE = 50;
const MOST = 400; // As much as scrolls smoothly; what is further away is fetched again.

/** Events: "change", after any of the properties has changed. */
export class Conversation extends EventTarget {
  /** The oldest first. */
  messages = [];
  moreBefore = false;
  moreAfter = false;
  loaded = false;
  /** Whether the reader is at the newest message, to be set from outside; decides which end makes room. */
  atEnd = true;

  #channelId; #ask; #turn = 0; #loading = false; #heard = [];

  /** `ask(event, data)` resolves with the server's reply. */
  constructor(channelId, ask) {
    super();
    this.#channelId = channelId;
    this.#ask = ask;
  }

  /** Hold the newest page and nothing else. Rejects as the request does, and so do the others. */
  newest() {
    return this.#load({}, ({ messages, more_before: more }) => {
      Object.assign(this, { messages, moreBefore: more, moreAfter: false, loaded: true });
    });
  }

  async older() {
    if (!this.moreBefore || this.#loading || !this.messages.length) return;
    await this.#load({ before: this.messages[0].id }, ({ messages, more_before: more }) => {
      this.moreBefore = more;
      const all = [...messages, ...this.messages];
      this.moreAfter ||= all.length > MOST;
      this.messages = all.slice(0, MOST);
    });
  }

  async newer() {
    if (!this.moreAfter || this.#loading || !this.messages.length) return;
    await this.#load({ after: this.messages.at(-1).id }, ({ messages, more_after: more }) => {
      this.moreAfter = more;
      const all = [...this.messages, ...messages];
      this.moreBefore ||= all.length > MOST;
      this.messages = all.slice(-MOST);
    });
  }

  /** Take a push that is about this channel. */
  hear(event, data) {
    if (this.#loading) this.#heard.push([event, data]);
    const before = this.messages;
    this.#apply(event, data);
    if (this.messages !== before) this.#changed();
  }

  async #load(cursor, take) {
    const turn = ++this.#turn;
    this.#loading = true;
    this.#heard = [];
    try {
      const page = await this.#ask("history", { channel_id: this.#channelId, limit: PAGE, ...cursor });
      if (turn !== this.#turn) return;
      take(page);
    } finally {
      if (turn === this.#turn) this.#loading = false;
    }
    // The page may be older or newer than what was pushed meanwhile; to hear it twice does no harm.
    for (const [event, data] of this.#heard.splice(0)) this.#apply(event, data);
    this.#changed();
  }

  #apply(event, data) {
    const { channel_id: _channel, id, ...rest } = data;
    switch (event) {
      case "message_posted":
        this.#add(data);
        break;
      case "message_edited":
      case "attachments_changed":
      case "pins_changed":
        this.#change(id, () => rest);
        break;
      case "message_deleted":
        if (this.messages.some((message) => message.id === id)) this.messages = this.messages.filter((message) => message.id !== id);
        break;
      case "reactions_changed":
        this.#change(id, ({ reactions }) => ({ reactions: changedReactions(reactions, data) }));
        break;
      default:
    }
  }

  #add(message) {
    if (!this.loaded || this.moreAfter || this.messages.some(({ id }) => id === message.id)) return;
    if (this.messages.length >= MOST && !this.atEnd) {
      this.moreAfter = true;
      return;
    }
    // Ids rise with time, but two that are posted at once may be told in either order.
    const all = [...this.messages, message].sort((one, other) => (one.id < other.id ? -1 : 1));
    this.moreBefore ||= all.length > MOST;
    this.messages = all.slice(-MOST);
  }

  #change(id, changes) {
    if (!this.messages.some((message) => message.id === id)) return;
    this.messages = this.messages.map((message) => (message.id === id ? { ...message, ...changes(message) } : message));
  }

  #changed() {
    this.dispatchEvent(new Event("change"));
  }
}

/** Emoji stay in the order of their code points, and members in that of their reacting. */
function changedReactions(reactions, { emoji, member_id: memberId, added }) {
  const before = reactions.find((reaction) => reaction.emoji === emoji)?.member_ids ?? [];
  const others = before.filter((id) => id !== memberId);
  const members = added ? (before.includes(memberId) ? before : [...before, memberId]) : others;
  const rest = reactions.filter((reaction) => reaction.emoji !== emoji);
  const all = members.length ? [...rest, { emoji, member_ids: members }] : rest;
  return all.sort((one, other) => (one.emoji < other.emoji ? -1 : 1));
}
