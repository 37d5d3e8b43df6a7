// How many temporal layers of other people's video are asked for, so that their sound stays whole: fewer when sound
// has to be concealed or much is lost, more again when all has been well for a while. Sans I/O: readings in, layers out.

const BAD_CONCEALED = 0.01; // Of the sound of a second.
const BAD_LOST = 0.08; // Of the packets of a second; what is sent again in time is not lost.
const AWFUL_LOST = 0.2;
const TOP = 2; // Layers 0, 1 and 2.
const WELL_S = 4; // So long all must be well before more is tried,
const WELL_MOST_S = 10; // and at most so long, after attempts that failed.
const SETTLING_S = 2; // What was asked for takes a moment to be felt.

/** The layer that each choice of a person's stands for; "automatic" is decided here. */
export const LAYERS = { high: -1, low: 1, saver: 0 };

export class Automatic {
  /** The highest layer to ask for: 0, 1, or 2 for all. */
  layer = TOP;

  #wellS = 0; #neededS = WELL_S; #sinceChangeS = SETTLING_S; #raisedS = Infinity;

  /** Take in what was measured in the last second; returns the layer to ask for. */
  hear({ received }) {
    this.#sinceChangeS += 1;
    this.#raisedS += 1;
    const concealed = Math.max(0, ...received.map((each) => each.concealed));
    const lost = Math.max(0, ...received.map((each) => each.lost));
    if (concealed > BAD_CONCEALED || lost > BAD_LOST) this.#worse(lost > AWFUL_LOST);
    else this.#better(received);
    return this.layer;
  }

  #worse(awful) {
    this.#wellS = 0;
    if (this.layer === 0 || this.#sinceChangeS < SETTLING_S) return;
    // What was tried too early is tried later the next time.
    if (this.#raisedS < WELL_S) this.#neededS = Math.min(WELL_MOST_S, this.#neededS * 1.6);
    this.#become(awful ? 0 : this.layer - 1);
  }

  #better(received) {
    this.#wellS += 1;
    if (this.layer === TOP || this.#wellS < this.#neededS || !received.length) return;
    this.#wellS = 0;
    this.#raisedS = 0;
    this.#become(this.layer + 1);
    if (this.layer === TOP) this.#neededS = WELL_S;
  }

  #become(layer) {
    this.layer = layer;
    this.#sinceChangeS = 0;
  }
}

/** What to ask for of one track: the person's own choice, or what is decided automatically. */
export function layerFor(choice, automatic) {
  if (choice in LAYERS) return LAYERS[choice];
  return automatic >= TOP ? -1 : automatic;
}
