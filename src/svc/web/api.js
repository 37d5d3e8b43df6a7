// Requests to the chat server's HTTP API, and what its refusals look like. Keeps nothing.

/** The server answered a request with an error; `code` is for programs, the message for people. */
export class Refusal extends Error {
  constructor({ error, message }, status = 0) {
    super(message || error);
    this.code = error;
    this.status = status;
  }

  /** Would the same request do better a little later? */
  get passes() {
    return this.status >= 500 || this.status === 429 || this.code === "challenge_invalid" || this.code === "server_stopping";
  }
}

/** Resolves with the answer; rejects with a Refusal, or with an Error when the server cannot be reached. */
export function post(path, body) {
  return request(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
}

/** The same for members, who show their access token. */
export function get(path, token) {
  return request(path, { headers: { Authorization: `Bearer ${token}` } });
}

export function remove(path, token) {
  return request(path, { method: "DELETE", headers: { Authorization: `Bearer ${token}` } });
}

async function request(path, options) {
  let response;
  let answer;
  try {
    response = await fetch(path, options);
    answer = response.status === 204 ? null : await response.json();
  } catch {
    throw new Error("The server cannot be reached. Try again in a moment.");
  }
  if (!response.ok) throw new Refusal(answer, response.status);
  return answer;
}
