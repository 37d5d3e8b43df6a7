// Reads the call's quality from the browser's statistics once a second, and keeps the readings for three
// minutes.

/** @import { Signal } from "../vendor/signals.js" */
/** @import { Call } from "./call.js" */
/** @import { Estimate, Layers, Source, Track } from "./session.js" */

import { signal } from "../vendor/signals.js";

const EVERY_MS = 1000;
const MAX_READINGS = 180; // The number of stored readings: one per second for three minutes.

/**
 * @typedef {{mid: string, source: Source | "", kbps: number, width: number, height: number, fps: number,
 *   codec: string, scalability?: string, lost: number}} Sent
 * @typedef {Sent & {source: Source, trackId: string, userId: string, jitterMs: number, waitMs: number,
 *   concealed: number, freezes: number}} Received
 * @typedef {{atMs: number, path: {kind: string, roundTripMs: number, availableKbps: number, came: number},
 *   sent: Sent[], received: Received[]}} Reading
 * @typedef {ReturnType<typeof summary>} Summary `people` contains kbit/s by member.
 * @typedef {any} Entry An entry in the browser's statistics. Its fields depend on its type and on the
 *   browser.
 */

/**
 * The last reading, or null. `came` increases whenever anything arrives over the path, including connectivity
 * checks and their responses. `waitMs` is how long media is buffered before it is played. `lost` is the
 * fraction of the last second's packets that were lost, and `concealed` the fraction of its audio that was
 * concealed, 0 to 1.
 * @type {Signal<Reading | null>}
 */
export const reading = signal(null);
/** The stored readings, oldest first. @type {Signal<Summary[]>} */
export const readings = signal([]);

/** @type {Source[]} */
const SOURCES = ["mic", "camera", "screen", "screen_audio"];

/**
 * Read a call's statistics once a second, and pass each reading to `onReading`. Return a function that stops
 * the readings.
 * @param {Pick<Call, "pc" | "tracks">} call
 * @param {(reading: Reading) => void} onReading
 */
export function watchQuality(call, onReading) {
  /** @type {Map<string, Entry> | null} */
  let before = null;
  const timer = setInterval(async () => {
    const pc = call.pc;
    if (pc?.connectionState !== "connected") {
      before = null;
      return;
    }
    const statistics = await pc.getStats().catch(() => null);
    if (!statistics) return;
    const entries = new Map([...statistics.values()].map((entry) => [entry.id, entry]));
    if (before) {
      const now = read(entries, before, call.tracks);
      reading.value = now;
      readings.value = [...readings.value, summary(now)].slice(-MAX_READINGS);
      onReading(now);
    }
    before = entries;
  }, EVERY_MS);
  return () => {
    clearInterval(timer);
    reading.value = null;
    readings.value = [];
  };
}

/**
 * @param {Map<string, Entry>} entries
 * @param {Map<string, Entry>} before
 * @param {Track[]} tracks
 * @returns {Reading}
 */
function read(entries, before, tracks) {
  const all = [...entries.values()];
  const change = (/** @type {Entry} */ entry, /** @type {string} */ name) =>
    Math.max(0, (entry[name] ?? 0) - (before.get(entry.id)?.[name] ?? 0));
  const seconds = (/** @type {Entry} */ entry) =>
    Math.max(
      0.001,
      (entry.timestamp - (before.get(entry.id)?.timestamp ?? entry.timestamp - EVERY_MS)) / 1000,
    );
  const kbps = (/** @type {Entry} */ entry, /** @type {string} */ name) =>
    Math.round((change(entry, name) * 8) / 1000 / seconds(entry));
  const codec = (/** @type {Entry} */ { codecId }) => entries.get(codecId)?.mimeType?.split("/")[1] ?? "";
  const common = (/** @type {Entry} */ entry) => ({
    mid: entry.mid,
    width: entry.frameWidth ?? 0,
    height: entry.frameHeight ?? 0,
    fps: Math.round(entry.framesPerSecond ?? 0),
    codec: codec(entry),
  });
  const share = (/** @type {number} */ part, /** @type {number} */ whole) => (whole > 0 ? part / whole : 0);

  const received = tracks.flatMap(({ mid, trackId, userId, source }) =>
    all
      .filter((entry) => entry.type === "inbound-rtp" && entry.mid === mid)
      .map((entry) => {
        const [lost, came] = [change(entry, "packetsLost"), change(entry, "packetsReceived")];
        const concealed = change(entry, "concealedSamples") - change(entry, "silentConcealedSamples");
        return {
          ...common(entry),
          trackId,
          userId,
          source,
          kbps: kbps(entry, "bytesReceived"),
          jitterMs: Math.round((entry.jitter ?? 0) * 1000),
          waitMs: Math.round(
            1000 * share(change(entry, "jitterBufferDelay"), change(entry, "jitterBufferEmittedCount")),
          ),
          lost: share(lost, lost + came),
          concealed: share(Math.max(0, concealed), change(entry, "totalSamplesReceived")),
          freezes: change(entry, "freezeCount"),
        };
      }),
  );
  const sent = all
    .filter((entry) => entry.type === "outbound-rtp" && (!entry.rid || change(entry, "bytesSent") > 0))
    .map((entry) => ({
      ...common(entry),
      source: SOURCES[Number(entry.mid)] ?? "",
      scalability: entry.scalabilityMode ?? "",
      kbps: kbps(entry, "bytesSent"),
      lost: share(change(entries.get(entry.remoteId) ?? {}, "packetsLost"), change(entry, "packetsSent")),
    }));
  return { atMs: Date.now(), path: pathOf(all, entries), sent, received };
}

/** @param {Entry[]} all @param {Map<string, Entry>} entries */
function pathOf(all, entries) {
  // Firefox has no transport entry, but marks the selected candidate pair.
  const selected = all.find(({ type }) => type === "transport")?.selectedCandidatePairId;
  const pairs = all.filter(({ type }) => type === "candidate-pair");
  const pair =
    entries.get(selected) ??
    pairs.find((entry) => entry.selected) ??
    pairs.find((entry) => entry.nominated && entry.state === "succeeded");
  const local = entries.get(pair?.localCandidateId);
  const kind = local?.candidateType === "relay" ? "relay" : (local?.protocol ?? "");
  const came = ["bytesReceived", "requestsReceived", "responsesReceived"].reduce(
    (sum, name) => sum + (pair?.[name] ?? 0),
    0,
  );
  return {
    kind,
    roundTripMs: Math.round((pair?.currentRoundTripTime ?? 0) * 1000),
    availableKbps: Math.round((pair?.availableOutgoingBitrate ?? 0) / 1000),
    came,
  };
}

/** @param {Reading} reading */
function summary({ atMs, path, sent, received }) {
  const sum = (/** @type {Sent[]} */ list) => list.reduce((total, { kbps }) => total + kbps, 0);
  const lost = received.length ? Math.max(...received.map((track) => track.lost)) : 0;
  /** @type {{[memberId: string]: number}} */
  const people = {};
  for (const { userId, kbps } of received) people[userId] = (people[userId] ?? 0) + kbps;
  return { atMs, roundTripMs: path.roundTripMs, lost, kbpsIn: sum(received), kbpsOut: sum(sent), people };
}

/**
 * Return a plain-text report for support requests, without names or IP addresses. `past` contains the stored
 * readings.
 * @param {Reading} reading
 * @param {Summary[]} past
 * @param {{estimate: Estimate | null, layers: Map<string, Layers>}} line The SFU's view of our downlink.
 */
export function report({ path, sent, received }, past, { estimate, layers }) {
  const highest = (/** @type {"roundTripMs" | "lost" | "kbpsIn" | "kbpsOut"} */ name) =>
    Math.max(0, ...past.map((summary) => summary[name]));
  const percent = (/** @type {number} */ share) => `${(share * 100).toFixed(1)} %`;
  const line = (/** @type {Sent} */ track) => {
    const size = track.width ? `${track.width}x${track.height}@${track.fps} ` : "";
    const scalability = track.scalability ? `${track.scalability} ` : "";
    const stream = `${track.source} ${track.codec} ${track.kbps} kbit/s`;
    return `${stream} ${size}${scalability}lost ${percent(track.lost)}`;
  };
  return [
    navigator.userAgent,
    `path ${path.kind}, round trip ${path.roundTripMs} ms, available ${path.availableKbps} kbit/s`,
    ...(estimate ? [`line to us ${estimate.kbps} kbit/s, ${estimate.reason}`] : []),
    `last ${past.length} s: round trip at most ${highest("roundTripMs")} ms, ` +
      `lost at most ${percent(highest("lost"))}, ` +
      `received at most ${highest("kbpsIn")} kbit/s, sent at most ${highest("kbpsOut")} kbit/s`,
    ...sent.map((track) => `sent: ${line(track)}`),
    ...received.map((track, index) => {
      const isSound = track.source.includes("audio") || track.source === "mic";
      const gaps = isSound ? `concealed ${percent(track.concealed)}` : `freezes ${track.freezes}`;
      const got = layers.get(track.trackId);
      const layer = got
        ? ` layers ${got.spatial}/${got.temporal}${got.paused ? " paused" : ""} ${got.reason}`
        : "";
      return `received ${index + 1}: ${line(track)} jitter ${track.jitterMs} ms ${gaps}${layer}`;
    }),
  ].join("\n");
}
