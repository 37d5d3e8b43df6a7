// Requests from a form: whether one is pending, and the error of the last request.

import { useEffect, useRef, useState } from "../../../vendor/preact.js";
import { explain } from "../../../words/words.js";

/**
 * `get(make)` resolves with the result of `make`, or with null if it failed. `run(make)` resolves to whether
 * it succeeded. Only one request runs at a time.
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
 * Fetch a value once: `value` is null until then. `again()` fetches it again, and `set` replaces it.
 * @template T @param {() => Promise<T>} ask @param {unknown[]} [about] fetched again when one of these
 *   changes
 */
export function useAnswer(ask, about = []) {
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
      // A value cannot be changed before it has been loaded.
      return before.value === null
        ? before
        : { value: /** @type {(before: T) => T} */ (change)(before.value), problem: "" };
    });
    // The pending response may lack this change.
    if (awaited.current) again();
  };
  useEffect(again, about);
  return { ...state, set, again };
}
