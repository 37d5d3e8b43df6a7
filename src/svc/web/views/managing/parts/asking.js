// Asking the server from a form: whether an answer is awaited, and what it refused.

import { useEffect, useRef, useState } from "../../../vendor/preact.js";
import { explain } from "../../../words/words.js";

/** `run(make)` waits for the promise that `make` returns, and says whether it was done; one at a time. */
export function useAsking() {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  const run = async (make) => {
    if (busy) return false;
    setBusy(true);
    setProblem("");
    try {
      await make();
      return true;
    } catch (error) {
      setProblem(explain(error));
      return false;
    } finally {
      setBusy(false);
    }
  };
  return { busy, problem, setProblem, run };
}

/** What the server tells once: `value` is null until then; `again()` asks anew, `set` puts what we know by now. */
export function useAnswer(ask, about = []) {
  const [state, setState] = useState({ value: null, problem: "" });
  const awaited = useRef(null);
  const again = () => {
    const mine = ask();
    awaited.current = mine;
    const forget = () => { if (awaited.current === mine) awaited.current = null; };
    const told = (next) => {
      if (awaited.current === mine) setState(next);
      forget();
    };
    mine.then((value) => told({ value, problem: "" }), (error) => told({ value: null, problem: explain(error) }));
    return forget;
  };
  const set = (change) => {
    setState(({ value }) => ({ value: typeof change === "function" ? change(value) : change, problem: "" }));
    // What was asked before may not know of it.
    if (awaited.current) again();
  };
  useEffect(again, about);
  return { ...state, set, again };
}
