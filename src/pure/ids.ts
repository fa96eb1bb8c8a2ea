/**
 * UUIDv7 outside, narrow numbers inside. The outside id carries the inside one in its last 52 bits, so finding a task by
 * UUID needs no second index: the number is extracted, the row is found by primary key, and the stored UUID is compared.
 * Knowing a number grants nothing: every read is bound to a workspace.
 */

export const LARGEST_ID = 2 ** 52 - 1

/** `random` is 22 random bits. */
export function uuidCarrying(id: number, nowMs: number, random: number): string {
  if (!Number.isSafeInteger(id) || id < 0 || id > LARGEST_ID) throw new RangeError(`id out of range: ${id}`)
  const time = nowMs.toString(16).padStart(12, '0')
  const randA = (random & 0xfff).toString(16).padStart(3, '0')
  // Two variant bits (10) and ten random ones, then 52 bits of id: four and thirteen hex digits.
  const randB = (0x800 | ((random >>> 12) & 0x3ff)).toString(16).padStart(3, '0')
  const carried = id.toString(16).padStart(13, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randA}-${randB}${carried.slice(0, 1)}-${carried.slice(1)}`
}

const UUID7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

export const isUuid = (text: string) => UUID7.test(text)

/** The inside id, or null when the text is not a UUID of ours. The caller still compares the whole UUID with the row's. */
export function idCarriedBy(uuid: string): number | null {
  if (!UUID7.test(uuid)) return null
  return Number.parseInt(uuid.slice(22, 23) + uuid.slice(24), 16)
}

/** Workspaces have narrower numbers than what is in them. */
const LARGEST_WORKSPACE_ID = 2 ** 31 - 1

/** The workspace that a UUID names, if it can name one. The caller still compares the whole UUID with the row's. */
export function workspaceCarriedBy(uuid: string): number | null {
  const id = idCarriedBy(uuid)
  return id !== null && id <= LARGEST_WORKSPACE_ID ? id : null
}

const HEX_DIGITS = 32
const asUuid = (hex: string) => hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')

/** The first and the last UUID that begin like this, with or without hyphens; null when none can. */
export function uuidsFrom(text: string): [first: string, last: string] | null {
  const hex = text.toLowerCase().replaceAll('-', '')
  if (!/^[0-9a-f]{1,32}$/.test(hex)) return null
  return [asUuid(hex.padEnd(HEX_DIGITS, '0')), asUuid(hex.padEnd(HEX_DIGITS, 'f'))]
}
