// Files that are covered until somebody presses them: their names begin so, as elsewhere. Pure functions.

const PREFIX = "SPOILER_";

/** @param {{name: string}} file */
export const isSpoiler = ({ name }) => name.startsWith(PREFIX);

/** The name as it is shown. @param {string} name */
export const shownName = (name) => (name.startsWith(PREFIX) && name.slice(PREFIX.length)) || name;

/** The name of a spoiler, or of what is none any more. @param {string} name @param {boolean} on */
export const nameAs = (name, on) => (on ? PREFIX : "") + shownName(name);
