// A component whose module is fetched when it is first shown.

import { notify } from "../../state/notices.js";
import { h, useEffect, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";

/** `load` imports the module, which exports the component as `name`. Without the network there is a notice, and nothing is shown. */
export function Later(load, name) {
  let View = null;
  return function Loaded(props) {
    const [, again] = useState(0);
    useEffect(() => {
      if (View) return;
      load().then((module) => {
        View = module[name];
        again(1);
      }, () => {
        notify(t("error-unreachable"));
        props.onClose?.();
      });
    }, []);
    return View && h(View, props);
  };
}
