// Grow a field with its text. The style sheet limits the height.

/** @param {HTMLTextAreaElement} field */
export function grow(field) {
  field.style.height = "auto";
  if (!field.value) return; // Measuring an empty field would cost a layout of the page.
  field.style.height = `${field.scrollHeight + 2}px`;
}
