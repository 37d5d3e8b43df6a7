// Decides whether this page's address can work for other people.

const LOOPBACK = /^(localhost|.*\.localhost|127(\.\d{1,3}){3}|\[::1\])$/;
const NEARBY_ADDRESS = /^(10|192\.168|172\.(1[6-9]|2\d|3[01])|169\.254)\.|^\[(f[cd]|fe[89ab])/;
const NEARBY_NAME = /\.(local|lan|home|internal)$|^[^.:]+$/;

/**
 * Return "only-here" (this computer only), "no-tls" (browsers restrict it on other computers), "nearby" (the
 * local network) or null.
 * @param {Pick<Location, "protocol" | "hostname">} address
 */
export function problemOf({ protocol, hostname }) {
  if (LOOPBACK.test(hostname)) return "only-here";
  if (protocol !== "https:") return "no-tls";
  return NEARBY_ADDRESS.test(hostname) || NEARBY_NAME.test(hostname) ? "nearby" : null;
}
