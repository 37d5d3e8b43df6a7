// Creates components that load their modules when they are first shown. The first one also loads the style
// sheet and the icons for all of them.

/** @import { FunctionComponent } from "../../vendor/preact.js" */
/**
 * @typedef {{onClose?: () => void, [prop: string]: unknown}} Given The component's properties, which are
 *   passed on unchanged.
 */

import { painted } from "../../state/first_paint.js";
import { notify } from "../../state/notices.js";
import { h, useEffect, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { addIcons } from "./icon.js";

const STYLE = new URL("../../later.css", import.meta.url);

/** @type {Promise<unknown> | null} */
let loaded = null;

/** Load the style sheet and the icons before a view needs them. */
export function loadStyle() {
  const style = () =>
    new Promise((resolve, reject) => {
      const link = Object.assign(document.createElement("link"), {
        rel: "stylesheet",
        href: STYLE,
        onload: resolve,
        onerror: reject,
      });
      document.head.append(link);
    });
  const icons = () => import("../../vendor/icons_later.js").then(({ PATHS }) => addIcons(PATHS));
  loaded ??= Promise.all([style(), icons()]).catch((error) => {
    loaded = null;
    throw error;
  });
  return loaded;
}

/**
 * Return a component that loads its module on first use. `load` imports the module, which exports the
 * component as `name`. If loading fails, a notice is shown instead of the component. Loading starts once the
 * promise `after` is resolved. Components in the first paint pass `firstPaint`, because an effect can run
 * before the frame that shows its component.
 * @template {object} Module
 * @param {() => Promise<Module>} load @param {keyof Module} name @param {Promise<void>} [after]
 */
export function Lazy(load, name, after = Promise.resolve()) {
  /** @type {FunctionComponent<Given> | null} */
  let View = null;
  /** @param {Given} props */
  return function Loaded(props) {
    const [, again] = useState(0);
    const drawn = View; // Another instance may load the module before the effect runs.
    useEffect(() => {
      if (drawn) return;
      after
        .then(() => Promise.all([load(), loadStyle()]))
        .then(
          ([module]) => {
            View = /** @type {FunctionComponent<Given>} */ (module[name]);
            again(1);
            painted(); // The first paint was waiting for these files.
          },
          () => {
            notify(t("error-unreachable"));
            props.onClose?.();
          },
        );
    }, []);
    return View && h(View, props);
  };
}
