// Implements strong noise suppression with GTCRN, which runs as WebAssembly in an AudioWorklet and is fetched
// on first use. Section 12 of docs/decisions.md explains why it does not use RNNoise.

/**
 * @type {Promise<{GtcrnWorkletNode: typeof import("../vendor/gtcrn.js").GtcrnWorkletNode, wasmBinary:
 *   ArrayBuffer, worklet: string}> | null}
 */
let ready = null; // Resolves with the module and the worklet's URL.

/**
 * Remove the noise from a track. Resolve with {track, stop}: the filtered track and a function that stops it.
 * @param {MediaStreamTrack} raw
 */
export async function suppressNoise(raw) {
  await fetched();
  // The model supports several sample rates. Calls use this one.
  const context = new AudioContext({ sampleRate: 48_000 });
  const node = await suppressor(context);
  const out = context.createMediaStreamDestination();
  context
    .createMediaStreamSource(new MediaStream([raw]))
    .connect(node)
    .connect(out);
  const stop = () => {
    node.destroy();
    context.close();
  };
  return { track: out.stream.getAudioTracks()[0], stop };
}

/** Create a node that removes noise. @param {AudioContext} context */
export async function suppressor(context) {
  const { GtcrnWorkletNode, wasmBinary, worklet } = await fetched();
  await context.audioWorklet.addModule(worklet);
  const node = new GtcrnWorkletNode(context, { maxChannels: 1, wasmBinary });
  // The model outputs one channel. In a stereo output, the second channel would be silent, and the audio
  // would sound half as loud.
  /** @type {AudioNodeOptions} */
  const mono = { channelCount: 1, channelCountMode: "explicit" };
  return Object.assign(node, mono);
}

function fetched() {
  return (ready ??= import("../vendor/gtcrn.js").then(async ({ loadGtcrn, GtcrnWorkletNode }) => {
    const at = (/** @type {string} */ name) => new URL(`../vendor/${name}`, import.meta.url).href;
    const wasmBinary = await loadGtcrn({ url: at("gtcrn.wasm") });
    return { GtcrnWorkletNode, wasmBinary, worklet: at("gtcrn_worklet.js") };
  }));
}
