const TINTS = 8

/** Tasks of one mission have a stripe of one tint, in every browser. */
export function stripeOf(missionId: string): number {
  let sum = 0
  for (const letter of missionId) sum = (sum * 31 + letter.charCodeAt(0)) % 9973
  return (sum % TINTS) + 1
}
