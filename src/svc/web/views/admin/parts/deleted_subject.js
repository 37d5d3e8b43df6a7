// Close an editor when somebody else deletes its subject, and show a notice.

import { notify } from "../../../state/notices.js";
import { useEffect, useRef } from "../../../vendor/preact.js";

/**
 * `present` becomes false once the subject is deleted. `words` describes that with its last `name`, and
 * `close` returns to the list.
 * @param {unknown} present @param {string | null | undefined} name @param {(name: string) => string} words
 *   @param {() => void} close
 */
export function useGone(present, name, words, close) {
  const last = useRef(name);
  if (present) last.current = name;
  useEffect(() => {
    if (present) return;
    notify(words(last.current ?? ""), "done");
    close();
  }, [Boolean(present)]);
}
