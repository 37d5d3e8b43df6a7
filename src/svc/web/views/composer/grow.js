// Fields that are as high as what is written in them; the style sheet limits how high.

/** @param {HTMLTextAreaElement} field */
export function grow(field) {
  field.style.height = "auto";
  if (!field.value) return; // Nothing to measure, which would cost a layout of the page.
  field.style.height = `${field.scrollHeight + 2}px`;
}
