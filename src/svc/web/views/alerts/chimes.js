// Plays the notification and call sounds, which are short, soft tones generated without audio files.

const LOUDNESS = 0.07; // The peak amplitude as a fraction of full scale, quieter than speech.
const ATTACK_S = 0.012; // The attack time. Without it, a tone would begin with a click.
const PAUSE_MS = 250; // A sound is not repeated within this time.

/** @typedef {keyof typeof TONES} Sound */

/** The tones of each sound, as [frequency in Hz, start in seconds, duration in seconds]. */
const TONES = {
  message: [[587, 0, 0.16]],
  mention: [
    [659, 0, 0.14],
    [880, 0.11, 0.24],
  ],
  join: [
    [440, 0, 0.12],
    [587, 0.09, 0.18],
  ],
  leave: [
    [587, 0, 0.12],
    [440, 0.09, 0.18],
  ],
  mute: [[392, 0, 0.09]],
  unmute: [[523, 0, 0.09]],
  ring: [
    [659, 0, 0.3],
    [784, 0.3, 0.3],
    [659, 0.6, 0.45],
  ],
};

/** @type {AudioContext | null} */
let context = null;
let quietAt = 0; // The time when the last tone ends, on the context's clock.
/** @type {Map<Sound, number>} */
const last = new Map();

/** Play a sound if the browser allows it. Browsers require a user gesture first. @param {Sound} name */
export function chime(name, nowMs = performance.now()) {
  if (nowMs - (last.get(name) ?? -PAUSE_MS) < PAUSE_MS) return;
  last.set(name, nowMs);
  const own = (context ??= new AudioContext());
  if (own.state === "running") play(name, own);
  else if (navigator.userActivation?.hasBeenActive ?? true)
    own.resume().then(
      () => play(name, own),
      () => {},
    );
}

/** @param {Sound} name @param {AudioContext} context */
function play(name, context) {
  const start = context.currentTime + 0.01;
  for (const [frequency, after, lasts] of TONES[name]) {
    const [tone, loudness] = [
      new OscillatorNode(context, { frequency, type: "sine" }),
      new GainNode(context, { gain: 0 }),
    ];
    const at = start + after;
    loudness.gain.setValueAtTime(0, at);
    loudness.gain.linearRampToValueAtTime(LOUDNESS, at + ATTACK_S);
    loudness.gain.exponentialRampToValueAtTime(LOUDNESS / 200, at + lasts);
    tone.connect(loudness).connect(context.destination);
    tone.start(at);
    tone.stop(at + lasts + 0.02);
    quietAt = Math.max(quietAt, at + lasts);
    // An open audio output uses CPU time and drains the battery.
    tone.onended = () => {
      if (context.currentTime >= quietAt) context.suspend();
    };
  }
}
