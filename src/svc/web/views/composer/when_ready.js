// A message that was sent while its files were on their way: it goes by itself once all of them have arrived.

import { notify } from "../../state/notices.js";
import { useEffect, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";

/** {ask, forget}: `ask` has `submit` called later. Writing on, another `spot`, or a file that is refused, takes that back. @param {{list: {readonly value: {state: string}[]}, pending: boolean}} uploads @param {string} spot @param {() => void} submit */
export function useWhenReady(uploads, spot, submit) {
  const [asked, setAsked] = useState(/** @type {string | null} */ (null));
  const drawn = uploads.list.value;
  useEffect(() => {
    // As they are now, which may be later than what was drawn.
    if (asked === null || uploads.pending) return;
    setAsked(null);
    if (asked === spot && uploads.list.value.every(({ state }) => state === "done")) submit();
  }, [asked, drawn, spot]);
  return {
    ask() {
      setAsked(spot);
      notify(t("files-on-their-way"), "done");
    },
    forget: () => setAsked(null),
  };
}
