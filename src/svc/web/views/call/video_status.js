// Describes in words how much of a video the service sends us.

/** @import { Layers, Source } from "../../call/session.js" */

import { tracks } from "../../call/current_call.js";
import { layers } from "../../call/layer_requests.js";
import { t } from "../../words/words.js";

/**
 * Return the layers that the service sends of a member's video; null if unknown.
 * @param {string} userId
 * @param {Source} source
 */
export function layersOf(userId, source) {
  const track = tracks.value.find((each) => each.userId === userId && each.source === source);
  return layers.value.get(track?.trackId ?? "") ?? null;
}

/**
 * Describe the limits of the sent video: a reduced size or frame rate, or a pause, and the reason.
 * @param {Layers | null | undefined} sent
 * @returns {string[]}
 */
export function layerWords(sent) {
  if (!sent) return [];
  const { spatial, temporal, paused, reason } = sent;
  const what = paused
    ? [t("picture-paused")]
    : [
        spatial >= 0 ? t("picture-size", { layer: spatial }) : "",
        temporal >= 0 ? t("layers-asked", { layer: temporal }) : "",
      ];
  return [...what, reason === "wish" ? "" : t("picture-reason", { reason })].filter(Boolean);
}
