// Whose menu a right click, a long touch or the menu key asks for. The menu itself is fetched with the first.

import { html, useState } from "../../vendor/preact.js";
import { Later } from "../parts/later.js";
import { whereOf } from "../parts/menu.js";

const PersonMenu = Later(() => import("./person_menu.js"), "PersonMenu");

/** [ask, menu]: `ask` takes the event and who it was about, {id, name}; `menu` is what is shown then. `opener` gets the focus back. */
export function usePersonMenu() {
  const [asked, setAsked] = useState(null);
  const ask = (event, { id, name }, opener) => {
    event.preventDefault();
    event.stopPropagation();
    setAsked({ id, name, opener, at: whereOf(event) });
  };
  const menu = asked && html`<${PersonMenu} key=${asked.at} asked=${asked} onClose=${() => setAsked(null)} />`;
  return [ask, menu];
}
