// Implements the cryptography of private conversations: MLS groups (RFC 9420) with the vendored ts-mls, and
// the statements that let a device's own key vouch for its MLS key. Accepts and returns bytes, and does no
// storage or network I/O. See docs/private.md.

/**
 * @import { Capabilities } from "ts-mls/dist/src/capabilities.js"
 * @import { ClientConfig } from "ts-mls/dist/src/clientConfig.js"
 * @import { ClientState, GroupState } from "ts-mls/dist/src/clientState.js"
 * @import { Credential, CredentialBasic } from "ts-mls/dist/src/credential.js"
 * @import { CiphersuiteImpl } from "ts-mls/dist/src/crypto/ciphersuite.js"
 * @import { FramedContent, FramedContentApplicationData } from "ts-mls/dist/src/framedContent.js"
 * @import { PrivateKeyPackage } from "ts-mls/dist/src/keyPackage.js"
 * @import { MLSMessage } from "ts-mls/dist/src/message.js"
 * @import { ProposalAdd, ProposalRemove } from "ts-mls/dist/src/proposal.js"
 * @import { SenderMember } from "ts-mls/dist/src/sender.js"
 *
 * @typedef {ClientState} State One device's state of a group.
 * @typedef {ClientConfig} Config
 * @typedef {{memberId: string, thumbprint: string, key: Uint8Array}} Stated
 * @typedef {{leaf: number, statement: string}} Leaf
 * @typedef {{signKey: Uint8Array, publicKey: Uint8Array}} Keys
 * @typedef {{message: Uint8Array, keys: PrivateKeyPackage}} Package
 */

import {
  createApplicationMessage,
  createCommit,
  createGroup,
  decodeGroupState,
  decodeMlsMessage,
  defaultClientConfig,
  defaultCryptoProvider,
  emptyPskIndex,
  encodeGroupState,
  encodeMlsMessage,
  generateKeyPackageWithKey,
  getCiphersuiteFromName,
  joinGroup,
  makeKeyPackageRef,
  mlsExporter,
  processPrivateMessage,
  unprotectPrivateMessage,
  zeroOutUint8Array,
} from "../../vendor/mls.js";

const SUITE = "MLS_128_DHKEMP256_AES128GCM_SHA256_P256";
/** @type {Capabilities} */
const CAPABILITIES = {
  versions: ["mls10"],
  ciphersuites: [SUITE],
  extensions: [],
  proposals: [],
  credentials: ["basic"],
};
// The lifetime of key packages, which is the same on the server.
const LIFE_S = 90 * 24 * 60 * 60;
const CALL_LABEL = "SFrame 1.0 Base Key";
const CALL_KEY_BYTES = 16;
const CURVE = { name: "ECDSA", namedCurve: "P-256" };

/** @type {Promise<CiphersuiteImpl> | null} */
let made = null;
const suite = () => (made ??= defaultCryptoProvider.getCiphersuiteImpl(getCiphersuiteFromName(SUITE)));

/** @param {string} text */
export const utf8 = (text) => new TextEncoder().encode(text);
/** @param {Uint8Array} data */
export const textOf = (data) => new TextDecoder("utf-8", { fatal: true }).decode(data);
/** @param {Uint8Array} data */
export const hexOf = (data) => Array.from(data, (byte) => byte.toString(16).padStart(2, "0")).join("");
/** @param {Uint8Array} data */
export const digestOf = async (data) =>
  hexOf(new Uint8Array(await crypto.subtle.digest("SHA-256", /** @type {BufferSource} */ (data))));

/** @param {Uint8Array} data */
export function toBase64(data) {
  let text = "";
  for (let at = 0; at < data.length; at += 0x8000)
    text += String.fromCharCode(...data.subarray(at, at + 0x8000));
  return btoa(text);
}

/** @param {string} text */
export const fromBase64 = (text) =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (character) =>
    character.charCodeAt(0),
  );

/** Create an MLS signature key pair: {signKey, publicKey}. */
export async function makeKeys() {
  return (await suite()).signature.keygen();
}

/**
 * Verify a statement. Return its content, {memberId, thumbprint, key}, or null if it was not signed by the
 * device's own key for this server.
 * @param {string} statement @param {string} audience @returns {Promise<Stated | null>}
 */
export async function readStatement(statement, audience) {
  try {
    const [head, body, signature] = statement.split(".");
    const [{ alg, jwk }, claims] = [head, body].map((part) => JSON.parse(textOf(fromBase64(part))));
    if (alg !== "ES256" || claims.use !== "mls" || claims.aud !== audience) return null;
    const { crv, kty, x, y } = jwk;
    const key = await crypto.subtle.importKey("jwk", { crv, kty, x, y }, CURVE, false, ["verify"]);
    const signed = await crypto.subtle.verify(
      { name: "ECDSA", hash: "SHA-256" },
      key,
      fromBase64(signature),
      utf8(`${head}.${body}`),
    );
    if (!signed) return null;
    const digest = new Uint8Array(
      await crypto.subtle.digest("SHA-256", utf8(JSON.stringify({ crv, kty, x, y }))),
    );
    const thumbprint = toBase64(digest).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
    return { memberId: claims.sub, thumbprint, key: fromBase64(claims.mls_key) };
  } catch {
    return null; // The text is not a valid statement.
  }
}

/**
 * Return a configuration that makes a group validate its devices. `belongs` returns whether a member may be
 * in the group.
 * @param {string} audience
 * @param {(memberId: string) => boolean} belongs
 * @returns {Config}
 */
export function configOf(audience, belongs) {
  return {
    ...defaultClientConfig,
    // The server keeps the log in order, so messages never come from a past epoch.
    keyRetentionConfig: { ...defaultClientConfig.keyRetentionConfig, retainKeysForEpochs: 1 },
    authService: {
      async validateCredential(credential, key) {
        if (credential.credentialType !== "basic") return false;
        const stated = await readStatement(textOf(credential.identity), audience);
        return stated !== null && belongs(stated.memberId) && sameBytes(stated.key, key);
      },
    },
  };
}

/** @param {Uint8Array} a @param {Uint8Array} b */
const sameBytes = (a, b) => a.length === b.length && a.every((byte, at) => byte === b[at]);

/**
 * Create a key package, {ref, message, keys}. The caller must store `keys` and send `message` to the server.
 * @param {Keys & {statement: string}} own
 * @param {number} nowMs
 */
export async function makePackage({ signKey, publicKey, statement }, nowMs) {
  const seconds = BigInt(Math.floor(nowMs / 1000));
  const lifetime = { notBefore: seconds - 3600n, notAfter: seconds + BigInt(LIFE_S) };
  /** @type {Credential} */
  const credential = { credentialType: "basic", identity: utf8(statement) };
  const { publicPackage, privatePackage } = await generateKeyPackageWithKey(
    credential,
    CAPABILITIES,
    lifetime,
    [],
    { signKey, publicKey },
    await suite(),
  );
  const message = encodeMlsMessage({
    version: "mls10",
    wireformat: "mls_key_package",
    keyPackage: publicPackage,
  });
  return {
    ref: hexOf(await makeKeyPackageRef(publicPackage, (await suite()).hash)),
    message,
    keys: privatePackage,
  };
}

/**
 * @template {MLSMessage["wireformat"]} F
 * @param {Uint8Array} data @param {F} wireformat @returns {Extract<MLSMessage, {wireformat: F}>}
 */
function decoded(data, wireformat) {
  const [message] = decodeMlsMessage(data, 0) ?? [];
  if (message?.wireformat !== wireformat) throw new TypeError(`not a message of the kind ${wireformat}`);
  return /** @type {Extract<MLSMessage, {wireformat: F}>} */ (message);
}

/**
 * Verify the statement in a key package. Return the result of `readStatement`.
 * @param {Uint8Array} packageMessage
 * @param {string} audience
 */
export const ownerOf = async (packageMessage, audience) => {
  const { leafNode } = decoded(packageMessage, "mls_key_package").keyPackage;
  const stated = await readStatement(
    textOf(/** @type {CredentialBasic} */ (leafNode.credential).identity),
    audience,
  );
  return stated && sameBytes(stated.key, leafNode.signaturePublicKey) ? stated : null;
};

/** @param {State} state */
export const packed = (state) => encodeGroupState(state);
/** @param {Uint8Array} data @param {Config} config @returns {State} */
export const unpacked = (data, config) => ({
  .../** @type {[GroupState, number]} */ (decodeGroupState(data, 0))[0],
  clientConfig: config,
});
/** @param {State} state */
export const epochOf = (state) => Number(state.groupContext.epoch);
/**
 * Return a value that is the same on all devices that agree on the group's entire history.
 * @param {State} state
 */
export const agreementOf = (state) => hexOf(state.keySchedule.epochAuthenticator);

/**
 * Return the frame keys of a call in this epoch (RFC 9605 section 5.2): {epoch, leaf, baseKey, leaves}.
 * @param {State} state
 */
export async function callKeysOf(state) {
  const baseKey = await mlsExporter(
    state.keySchedule.exporterSecret,
    CALL_LABEL,
    new Uint8Array(),
    CALL_KEY_BYTES,
    await suite(),
  );
  return { epoch: epochOf(state), leaf: state.privatePath.leafIndex, baseKey, leaves: leavesOf(state) };
}

/**
 * Create a group that contains only this device.
 * @param {string} conversationId
 * @param {Package} own
 * @param {Config} config
 */
export async function begin(conversationId, { message, keys }, config) {
  const { keyPackage } = decoded(message, "mls_key_package");
  return createGroup(utf8(conversationId), keyPackage, keys, [], await suite(), config);
}

/**
 * Join a group with a Welcome. Return null if the Welcome is not for one of our key packages. `find` looks up
 * a package by ref.
 * @param {Uint8Array} data @param {(ref: string) => Promise<Package | undefined>} find @param {Config} config
 */
export async function join(data, find, config) {
  const { welcome } = decoded(data, "mls_welcome");
  for (const { newMember } of welcome.secrets) {
    const ours = await find(hexOf(newMember));
    if (!ours) continue;
    const { keyPackage } = decoded(ours.message, "mls_key_package");
    const state = await joinGroup(
      welcome,
      keyPackage,
      ours.keys,
      emptyPskIndex,
      await suite(),
      undefined,
      undefined,
      config,
    );
    return { state, ref: hexOf(newMember) };
  }
  return null;
}

/** Return the statements of the devices in a group: [{leaf, statement}]. @param {State} state */
export function leavesOf(state) {
  /** @type {Leaf[]} */
  const leaves = [];
  state.ratchetTree.forEach((node, at) => {
    if (node?.nodeType === "leaf")
      leaves.push({
        leaf: at / 2,
        statement: textOf(/** @type {CredentialBasic} */ (node.leaf.credential).identity),
      });
  });
  return leaves;
}

/**
 * Create a commit that adds the devices with these key packages and removes these leaves. Return {state,
 * message, welcome}.
 * @param {State} state
 * @param {Uint8Array[]} packages
 * @param {number[]} leaves
 */
export async function commit(state, packages, leaves) {
  const adds = packages.map(
    (encoded) =>
      /** @type {ProposalAdd} */ ({
        proposalType: "add",
        add: { keyPackage: decoded(encoded, "mls_key_package").keyPackage },
      }),
  );
  const removes = leaves.map(
    (removed) => /** @type {ProposalRemove} */ ({ proposalType: "remove", remove: { removed } }),
  );
  const context = { state, cipherSuite: await suite() };
  const result = await createCommit(context, {
    extraProposals: [...removes, ...adds],
    ratchetTreeExtension: true,
  });
  return {
    state: result.newState,
    message: encodeMlsMessage(result.commit),
    welcome: result.welcome
      ? encodeMlsMessage({ version: "mls10", wireformat: "mls_welcome", welcome: result.welcome })
      : null,
  };
}

/**
 * Encrypt a message. Return {state, message}: the group after sending, and the encrypted message. `shown` is
 * the message's authenticated public part.
 * @param {State} state
 * @param {Uint8Array} data
 * @param {Uint8Array} shown
 */
export async function seal(state, data, shown) {
  const { newState, privateMessage, consumed } = await createApplicationMessage(
    state,
    data,
    await suite(),
    shown,
  );
  const message = encodeMlsMessage({ version: "mls10", wireformat: "mls_private_message", privateMessage });
  consumed.forEach(zeroOutUint8Array);
  return { state: newState, message };
}

/**
 * Decrypt another device's message. Return {state, data, shown, statement}, or only {state} for a commit.
 * Rejects if the message is invalid.
 * @param {State} state @param {Uint8Array} message @returns {Promise<{state: State, data?: Uint8Array,
 *   shown?: Uint8Array, statement?: string}>}
 */
export async function open(state, message) {
  const { privateMessage } = decoded(message, "mls_private_message");
  const cs = await suite();
  if (privateMessage.contentType !== "application") {
    return { state: (await processPrivateMessage(state, privateMessage, emptyPskIndex, cs)).newState };
  }
  if (Number(privateMessage.epoch) !== epochOf(state)) throw new RangeError("a message of another epoch");
  const { keySchedule, secretTree, ratchetTree, groupContext, clientConfig } = state;
  const result = await unprotectPrivateMessage(
    keySchedule.senderDataSecret,
    privateMessage,
    secretTree,
    ratchetTree,
    groupContext,
    clientConfig.keyRetentionConfig,
    cs,
  );
  const { applicationData, sender } =
    /** @type {FramedContent & FramedContentApplicationData & {sender: SenderMember}} */ (
      result.content.content
    );
  const { statement } = /** @type {Leaf} */ (leavesOf(state).find(({ leaf }) => leaf === sender.leafIndex));
  result.consumed.forEach(zeroOutUint8Array);
  return {
    state: { ...state, secretTree: result.tree },
    data: applicationData,
    shown: privateMessage.authenticatedData,
    statement,
  };
}
