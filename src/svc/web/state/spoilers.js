// Spoiler files, which are covered until pressed. Their names have a prefix, as in other chat programs. Pure
// functions.

const PREFIX = "SPOILER_";

/** @param {{name: string}} file */
export const isSpoiler = ({ name }) => name.startsWith(PREFIX);

/** Return the displayed name. @param {string} name */
export const shownName = (name) => (name.startsWith(PREFIX) && name.slice(PREFIX.length)) || name;

/** Return the name as that of a spoiler or of an ordinary file. @param {string} name @param {boolean} on */
export const nameAs = (name, on) => (on ? PREFIX : "") + shownName(name);
