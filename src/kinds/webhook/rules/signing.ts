/** Keys that sign, as Standard Webhooks writes them. */

const PREFIX = 'whsec_'
const FEWEST_BYTES = 24
const MOST_BYTES = 64
const SHOWN = 4

export const NOT_A_SECRET = 'must be "whsec_" and 24 to 64 bytes in base64'

export const signingSecret = (bytes: Uint8Array) => `${PREFIX}${Buffer.from(bytes).toString('base64')}`

export function isSigningSecret(text: string): boolean {
  if (!text.startsWith(PREFIX)) return false
  const encoded = text.slice(PREFIX.length)
  const bytes = Buffer.from(encoded, 'base64')
  return bytes.toString('base64') === encoded && bytes.length >= FEWEST_BYTES && bytes.length <= MOST_BYTES
}

/** Enough to tell two keys apart, and of no use to sign. */
export const secretHint = (secret: string) => `${PREFIX}…${secret.replace(/=+$/, '').slice(-SHOWN)}`
