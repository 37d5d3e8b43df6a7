// A small layer such as a menu, which covers the page on a phone: there, Back closes it.

import { addLayer } from "../../state/navigation.js";
import { useLayoutEffect, useRef } from "../../vendor/preact.js";

/** On a desktop a menu would delete the entries that Forward leads to. @param {() => void} onClose */
export function useLayer(onClose) {
  const close = useRef(onClose);
  close.current = onClose;
  useLayoutEffect(
    () => (matchMedia("(max-width: 640px)").matches ? addLayer(() => close.current()) : undefined),
    [],
  );
}
