// One file on its way to the server. With XMLHttpRequest, for fetch does not say how far it is.

import { Refusal, Unreachable } from "./http.js";

/**
 * Resolves with the upload, as docs/http.md has it; rejects with a Refusal, or with Unreachable.
 * @param {string} path @param {File} file
 * @param {{token: string, progressed?: (share: number) => void, signal?: AbortSignal, fields?: Record<string, string>}} options
 */
export function sendFile(path, file, { token, progressed = () => {}, signal, fields = {} }) {
  const request = new XMLHttpRequest();
  request.open("POST", path);
  request.setRequestHeader("Authorization", `Bearer ${token}`);
  request.responseType = "json";
  request.upload.addEventListener("progress", ({ loaded, total }) => progressed(total ? loaded / total : 0));
  signal?.addEventListener("abort", () => request.abort());
  const body = new FormData();
  body.append("file", file, file.name);
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  request.send(body);
  return new Promise((resolve, reject) => {
    request.addEventListener("load", () => {
      if (request.status === 201) resolve(request.response);
      else reject(new Refusal(request.response ?? { error: "internal_error" }, request.status));
    });
    for (const end of ["error", "abort", "timeout"]) request.addEventListener(end, () => reject(new Unreachable("The connection was lost.")));
  });
}
