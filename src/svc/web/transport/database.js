// A store in this browser's database, for keys that no script can read, and for data encrypted with them.

/**
 * Return `inStore(mode, act)`, which resolves with the result of `act`'s request once everything is stored.
 * The store is created if it is missing.
 * @param {string} database @param {string} name
 */
export function indexed(database, name) {
  /**
   * @template T
   * @param {IDBTransactionMode} mode @param {(store: IDBObjectStore) => IDBRequest<T>} act @returns
   *   {Promise<T>}
   */
  return async (mode, act) => {
    const opened = await open(database, name);
    try {
      const transaction = opened.transaction(name, mode);
      const request = act(transaction.objectStore(name));
      await new Promise((resolve, reject) => {
        transaction.addEventListener("complete", resolve);
        transaction.addEventListener("abort", () => reject(transaction.error));
      });
      return request.result;
    } finally {
      opened.close();
    }
  };
}

/** @param {string} database @param {string} name @returns {Promise<IDBDatabase>} */
function open(database, name) {
  const request = indexedDB.open(database, 1);
  request.addEventListener("upgradeneeded", () => request.result.createObjectStore(name));
  return new Promise((resolve, reject) => {
    request.addEventListener("success", () => resolve(request.result));
    request.addEventListener("error", () => reject(request.error));
  });
}
