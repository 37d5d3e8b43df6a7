// What a change of a conversation's devices means to its people. docs/private.md

/**
 * What to say of it: [{what, memberId}], `what` "joined", "left", "new-device" or "device-gone".
 * @param {{added: {memberId: string}[], removed: {memberId: string}[], before: string[], after: string[]}} change
 * @param {boolean} two between two nobody joins or leaves: who comes back has another device
 */
export function noteOf({ added, removed, before, after }, two) {
  const of = (/** @type {{memberId: string}[]} */ all) => [...new Set(all.map(({ memberId }) => memberId))];
  const [come, gone] = [of(added), of(removed)];
  return [
    ...come.map((memberId) => ({ what: two || before.includes(memberId) ? "new-device" : "joined", memberId })),
    ...gone.filter((memberId) => !come.includes(memberId)).map((memberId) => ({ what: two || after.includes(memberId) ? "device-gone" : "left", memberId })),
  ];
}
