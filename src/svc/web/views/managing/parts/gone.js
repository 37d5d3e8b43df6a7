// What somebody looks at in an editor may be deleted by another who manages: the list comes back, with words.

import { notify } from "../../../state/notices.js";
import { useEffect, useRef } from "../../../vendor/preact.js";

/**
 * `present` is false once what was open is gone; `words` say so of its last `name`, and `close` goes back to the list.
 * @param {unknown} present @param {string | null | undefined} name @param {(name: string) => string} words @param {() => void} close
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
