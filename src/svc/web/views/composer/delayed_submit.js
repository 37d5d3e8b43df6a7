// A message submitted while its files upload: send it once all of them have arrived.

import { notify } from "../../state/notices.js";
import { useEffect, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";

/**
 * Return {ask, forget}: `ask` schedules `submit`. Typing, another `spot`, or a rejected file cancels it.
 * @param {{list: {readonly value: {state: string}[]}, pending: boolean}} uploads
 * @param {string} spot
 * @param {() => void} submit
 */
export function useWhenReady(uploads, spot, submit) {
  const [asked, setAsked] = useState(/** @type {string | null} */ (null));
  const drawn = uploads.list.value;
  useEffect(() => {
    // The current values may be newer than the last render.
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
