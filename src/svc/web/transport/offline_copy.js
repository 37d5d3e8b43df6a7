// Stores the offline copy in its own database, as named values.

const DATABASE = "svc.read";
const STORE = "kept";

/** @param {string} name @param {unknown} value */
export const saveCopy = (name, value) => inStore("readwrite", (store) => store.put(value, name));
/** @param {string} name */
export const deleteCopy = (name) => inStore("readwrite", (store) => store.delete(name));
export const deleteAllCopies = () => inStore("readwrite", (store) => store.clear());

/** Return the value stored under a name; undefined if there is none. @param {string} name */
export const loadCopy = (name) => inStore("readonly", (store) => store.get(name));

/** Return all names in the store. */
export const names = () => inStore("readonly", (store) => store.getAllKeys());

/** @type {Promise<IDBDatabase> | null} */
let opening = null;

/**
 * @template T
 * @param {IDBTransactionMode} mode @param {(store: IDBObjectStore) => IDBRequest<T>} act @returns
 *   {Promise<T>}
 */
async function inStore(mode, act) {
  opening ??= opened();
  const transaction = (await opening).transaction(STORE, mode);
  const request = act(transaction.objectStore(STORE));
  await new Promise((resolve, reject) => {
    transaction.addEventListener("complete", resolve);
    transaction.addEventListener("abort", () => reject(transaction.error));
  });
  return request.result;
}

/** @returns {Promise<IDBDatabase>} */
function opened() {
  const request = indexedDB.open(DATABASE, 1);
  request.addEventListener("upgradeneeded", () => request.result.createObjectStore(STORE));
  return new Promise((resolve, reject) => {
    request.addEventListener("success", () => resolve(request.result));
    request.addEventListener("error", () => reject(request.error));
  });
}
