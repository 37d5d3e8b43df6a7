// Loads and resolves open reports, which were made by members or by automod rules.

/** @import { Report } from "../../types/api.js" */
/** @import { Signal } from "../../vendor/signals.js" */

import { effect, signal } from "../../vendor/signals.js";
import { hasPermission } from "../channels.js";
import { api, connection, listen, member } from "../server.js";

/**
 * The open reports, newest first; null until loaded, and if we may not see them.
 * @type {Signal<Report[] | null>}
 */
export const openReports = signal(null);

/**
 * The last report that another moderator resolved, {report, by}; null if there is none.
 * @type {Signal<{report: Report, by: string | null} | null>}
 */
export const resolvedElsewhere = signal(null);

/** Fetch a page of resolved reports: {reports, next}. */
export const resolvedReports = () => api("GET", "/api/reports?state=resolved");

/**
 * Resolve a report and remove it from the open reports. Rejects if another moderator has already resolved it.
 * @param {string} id
 * @param {string} [note]
 */
export async function resolveReport(id, note) {
  try {
    await api("POST", `/api/reports/${encodeURIComponent(id)}/resolve`, note ? { note } : {});
  } catch (/** @type {any} */ error) {
    if (error.code !== "already_resolved") throw error;
    forget(id);
    throw error;
  }
  forget(id);
}

/** @param {string} id */
function forget(id) {
  openReports.value = (openReports.value ?? []).filter((report) => report.id !== id);
}

/** Fetch the message that a report is about. @param {Report} report */
export const messageOf = ({ channel_id: channelId, message_id: id }) =>
  api("GET", `/api/channels/${encodeURIComponent(`${channelId}`)}/messages/${encodeURIComponent(`${id}`)}`);

/** Fetch a few messages before and after the reported message. @param {Report} report */
export const around = async ({ channel_id: channelId, message_id: id }) => {
  const query = new URLSearchParams({ around: `${id}`, limit: "7" });
  return (await api("GET", `/api/channels/${encodeURIComponent(`${channelId}`)}/messages?${query}`)).messages;
};

let pushes = 0; // The number of events about reports that have been pushed so far.
/** @returns {Promise<void>} */
export async function loadReports() {
  const before = pushes;
  const { reports } = await api("GET", "/api/reports?state=open");
  // The response may not include reports that were pushed in the meantime.
  if (pushes !== before) return loadReports();
  openReports.value = reports;
}

effect(() => {
  if (connection.value !== "online") return;
  // If a role has given us access, load the reports now.
  if (hasPermission("view_reports")) loadReports().catch(() => {});
  else openReports.value = null;
});

listen({
  onPush(event, data) {
    if (event.startsWith("report_")) pushes += 1;
    if (event === "report_resolved" && openReports.value) {
      const report = openReports.value.find(({ id }) => id === data.report_id);
      if (report && data.resolved_by !== member.value?.id)
        resolvedElsewhere.value = { report, by: data.resolved_by };
      forget(data.report_id);
    }
    if (event === "report_created" && openReports.value)
      openReports.value = [data, ...openReports.value.filter(({ id }) => id !== data.id)];
  },
  onSignOut() {
    openReports.value = null;
  },
});
