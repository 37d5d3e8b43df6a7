// Play three soft notes to test the chosen loudspeaker.

const NOTES_HZ = [523, 659, 784];
const NOTE_S = 0.22;

/** @param {string} speaker */
export async function playTestSound(speaker) {
  const context = new AudioContext();
  // Play through an element, because only elements can select the loudspeaker in every browser.
  const [element, out] = [new Audio(), context.createMediaStreamDestination()];
  element.srcObject = out.stream;
  if (speaker) await element.setSinkId?.(speaker).catch(() => {});
  await element.play().catch(() => {});
  NOTES_HZ.forEach((frequency, index) => {
    const [note, gain, at] = [
      context.createOscillator(),
      context.createGain(),
      context.currentTime + index * NOTE_S,
    ];
    note.frequency.value = frequency;
    gain.gain.setValueAtTime(0.2, at);
    gain.gain.exponentialRampToValueAtTime(0.001, at + NOTE_S * 1.6);
    note.connect(gain).connect(out);
    note.start(at);
    note.stop(at + NOTE_S * 1.6);
  });
  setTimeout(() => context.close(), NOTES_HZ.length * NOTE_S * 1000 + 1000);
}
