// The field in which one writes: there may be two, of a channel and of a thread beside it.

/** @param {string | null} thread */
export const draftId = (thread) => (thread ? "thread-draft" : "draft");
