// Fields that are as high as what is written in them.

const HIGHEST_PX = 240;

/** @param {HTMLTextAreaElement} field */
export function grow(field) {
  field.style.height = "auto";
  if (!field.value) return; // Nothing to measure, which would cost a layout of the page.
  field.style.height = `${Math.min(HIGHEST_PX, field.scrollHeight + 2)}px`;
}
