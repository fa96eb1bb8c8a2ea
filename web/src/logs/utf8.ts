/** Sizes of text in UTF-8: addresses in a log are bytes, strings count UTF-16 units. */

const isLead = (unit: number) => unit >= 0xd800 && unit < 0xdc00

/** The bytes of the character that begins at this unit, and how many units it has. */
function characterAt(text: string, at: number): { bytes: number; units: number } {
  const unit = text.charCodeAt(at)
  if (unit < 0x80) return { bytes: 1, units: 1 }
  if (unit < 0x800) return { bytes: 2, units: 1 }
  if (isLead(unit) && at + 1 < text.length) return { bytes: 4, units: 2 }
  return { bytes: 3, units: 1 }
}

export function utf8Bytes(text: string, from = 0, to = text.length): number {
  let bytes = 0
  for (let at = from; at < to; ) {
    const character = characterAt(text, at)
    bytes += character.bytes
    at += character.units
  }
  return bytes
}

/** The unit at which this many bytes after `from` have passed. A character is never divided: it belongs to what comes first. */
export function unitAfterBytes(text: string, from: number, bytes: number): number {
  let at = from
  for (let passed = 0; passed < bytes && at < text.length; ) {
    const character = characterAt(text, at)
    passed += character.bytes
    at += character.units
  }
  return at
}
