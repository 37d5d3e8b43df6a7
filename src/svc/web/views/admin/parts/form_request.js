// Sends a form's requests and loads values for display, with the pending state and the last error. Also
// renders the form that confirms a large deletion.

import { useEffect, useRef, useState, html } from "../../../vendor/preact.js";
import { explain, t } from "../../../words/words.js";
import { Button } from "../../parts/button.js";
import { Dialog } from "../../parts/dialog.js";
import { Field } from "../../parts/field.js";

/**
 * Manage a form's requests. `get(make)` resolves to the result of `make`, or to null if `make` failed.
 * `run(make)` resolves to whether `make` succeeded. Only one request runs at a time.
 */
export function useFormRequest() {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  /** @template T @param {() => T | Promise<T>} make @returns {Promise<T | null>} */
  const get = async (make) => {
    if (busy) return null;
    setBusy(true);
    setProblem("");
    try {
      return await make();
    } catch (error) {
      setProblem(explain(error));
      return null;
    } finally {
      setBusy(false);
    }
  };
  const run = async (/** @type {() => unknown} */ make) =>
    (await get(async () => {
      await make();
      return true;
    })) ?? false;
  return { busy, problem, setProblem, get, run };
}

/**
 * Fetch a value. It is null until the response arrives. `again()` refetches it, and `set` replaces it.
 * @template T @param {() => Promise<T>} ask @param {unknown[]} [about] refetch when one of these changes
 */
export function useResponse(ask, about = []) {
  const [state, setState] = useState({ value: /** @type {T | null} */ (null), problem: "" });
  const awaited = useRef(/** @type {Promise<T> | null} */ (null));
  const again = () => {
    const mine = ask();
    awaited.current = mine;
    const forget = () => {
      if (awaited.current === mine) awaited.current = null;
    };
    const update = (/** @type {typeof state} */ next) => {
      if (awaited.current === mine) setState(next);
      forget();
    };
    mine.then(
      (value) => update({ value, problem: "" }),
      (error) => update({ value: null, problem: explain(error) }),
    );
    return forget;
  };
  const set = (/** @type {T | ((before: T) => T)} */ change) => {
    setState((before) => {
      if (typeof change !== "function") return { value: change, problem: "" };
      // Ignore changes until the value has been loaded.
      return before.value === null
        ? before
        : { value: /** @type {(before: T) => T} */ (change)(before.value), problem: "" };
    });
    // The pending response may not include this change.
    if (awaited.current) again();
  };
  useEffect(again, about);
  return { ...state, set, again };
}

/**
 * @param {{title: string, text: string, name: string, action: string, onConfirm: () => unknown, onClose: ()
 *   => void}} props
 */
export function TypedConfirm({ title, text, name, action, onConfirm, onClose }) {
  const [typed, setTyped] = useState("");
  const { busy, problem, run } = useFormRequest();
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    if (typed.trim() === name && (await run(onConfirm))) onClose();
  };
  return html`<${Dialog} title=${title} onClose=${onClose} class="confirm">
    <p dir="auto">${text}</p>
    <form class="stack" onSubmit=${submit}>
      <${Field}
        label=${t("type-its-name", { name })}
        value=${typed}
        onInput=${(/** @type {EventOn<HTMLInputElement>} */ event) => setTyped(event.currentTarget.value)}
        problem=${problem}
        autocomplete="off"
        spellcheck=${false}
        autofocus
      />
      <footer class="buttons">
        <${Button} onClick=${onClose}>${t("cancel")}<//>
        <${Button} look="danger" type="submit" disabled=${busy || typed.trim() !== name}>${action}<//>
      </footer>
    </form>
  <//>`;
}
