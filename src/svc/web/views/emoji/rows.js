// Lays out the picker's emoji in rows with section headings, and computes where arrow keys move. All
// functions are pure.

/** @typedef {import("./emoji_catalogue.js").Item} Item */
/** @typedef {{id: string, label: string, items: Item[]}} Section */
/** @typedef {{head?: Section, items: Item[]}} Row A heading's row has no items. */
/** @typedef {{row: number, column: number}} Position */

const PAGE = 6; // The number of rows that Page Up and Page Down move.

/** @param {Section[]} sections @param {number} columns @returns {Row[]} */
export function laidOut(sections, columns) {
  return sections.flatMap((section) => {
    const rows = [];
    for (let at = 0; at < section.items.length; at += columns)
      rows.push({ items: section.items.slice(at, at + columns) });
    return rows.length ? [{ head: section, items: [] }, ...rows] : [];
  });
}

/**
 * Return the first position with an emoji at or after a row.
 * @param {Row[]} rows
 * @param {number} [from]
 * @returns {Position}
 */
export function firstFrom(rows, from = 0) {
  const row = rows.findIndex(({ items }, index) => index >= from && items.length);
  return { row: Math.max(row, 0), column: 0 };
}

/**
 * Return the position that a key moves to. Return null if it is above the first row or the key has no effect.
 * @param {Row[]} rows
 * @param {Position} position
 * @param {string} key
 * @returns {Position | null}
 */
export function moved(rows, { row, column }, key) {
  switch (key) {
    case "ArrowRight":
      return column + 1 < rows[row].items.length
        ? { row, column: column + 1 }
        : (below(rows, row, 0) ?? { row, column });
    case "ArrowLeft":
      return column > 0 ? { row, column: column - 1 } : (above(rows, row, Infinity) ?? { row, column });
    case "ArrowDown":
      return below(rows, row, column) ?? { row, column };
    case "ArrowUp":
      return above(rows, row, column);
    case "PageDown":
      return (
        below(rows, Math.min(row + PAGE, rows.length) - 1, column) ??
        below(rows, row, column) ?? { row, column }
      );
    case "PageUp":
      return above(rows, Math.max(row - PAGE, 0) + 1, column) ?? { row, column };
    case "Home":
      return { row, column: 0 };
    case "End":
      return { row, column: rows[row].items.length - 1 };
    default:
      return null;
  }
}

/** @param {Row[]} rows @param {number} row @param {number} column @returns {Position | null} */
function below(rows, row, column) {
  for (let next = row + 1; next < rows.length; next++)
    if (rows[next].items.length) return within(rows, next, column);
  return null;
}

/** @param {Row[]} rows @param {number} row @param {number} column @returns {Position | null} */
function above(rows, row, column) {
  for (let next = row - 1; next >= 0; next--) if (rows[next].items.length) return within(rows, next, column);
  return null;
}

/** @param {Row[]} rows @param {number} row @param {number} column @returns {Position} */
const within = (rows, row, column) => ({ row, column: Math.min(column, rows[row].items.length - 1) });
