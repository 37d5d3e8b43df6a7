// Spoiler files, which are covered until somebody clicks them. Their names have a prefix, as in other chat
// programs. Pure functions.

const PREFIX = "SPOILER_";

/** @param {{name: string}} file */
export const isSpoiler = ({ name }) => name.startsWith(PREFIX);

/** Return the displayed name. @param {string} name */
export const shownName = (name) => (name.startsWith(PREFIX) && name.slice(PREFIX.length)) || name;

/** Return the file name with or without the spoiler prefix. @param {string} name @param {boolean} on */
export const nameAs = (name, on) => (on ? PREFIX : "") + shownName(name);
