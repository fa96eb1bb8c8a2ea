/** Shorter ones would black out half of every text and protect nothing. */
const SHORTEST_SECRET = 6
/** From this length on, a line of a multi-line key is a secret of its own. */
const SHORTEST_LINE = 16
/** The usual tools break base64 into lines of this length. */
const BASE64_LINE = 76

/** Whether it is long enough to be searched for. */
export const canBeHidden = (secret: string): boolean => secret.trim().length >= SHORTEST_SECRET

/** The forms in which a secret appears in output: as it is, escaped, encoded, and its single lines. */
export const formsOf = (secret: string): Set<string> => new Set(formsIn(secret))

/** The same as a generator, with duplicates: a long secret takes a while. */
export function* formsIn(secret: string): Generator<string> {
  for (const form of writtenForms(secret)) if (canBeHidden(form)) yield form
}

function* writtenForms(secret: string): Generator<string> {
  for (const part of partsWrittenAlone(secret)) {
    yield part
    yield* jsonForms(part)
    yield* urlForms(part)
  }
  yield* base64Forms(secret)
  if (secret.trim() !== secret) yield* base64Forms(secret.trim())
}

function partsWrittenAlone(secret: string): Set<string> {
  const parts = new Set([secret, secret.trim()])
  if (!/[\r\n]/.test(secret)) return parts
  for (const line of secret.split(/[\r\n]+/))
    for (const part of [line, line.trim()]) if (part.length >= SHORTEST_LINE) parts.add(part)
  return parts
}

const escaped = (text: string) => JSON.stringify(text).slice(1, -1)
const unit = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/** As a JSON string; as written by encoders that stick to ASCII or avoid HTML; and as JSON within JSON. */
function* jsonForms(text: string): Generator<string> {
  const once = escaped(text)
  const forms = new Set([once])
  if (once.includes('/')) forms.add(once.replaceAll('/', '\\/'))
  if (/[<>&]/.test(once)) forms.add(once.replace(/[<>&]/g, unit))
  if (/[\u007f-\uffff]/.test(once)) forms.add(once.replace(/[\u007f-\uffff]/g, unit))
  for (const form of forms) {
    yield form
    if (/["\\]/.test(form)) yield escaped(form)
  }
}

/** In URLs and in forms, with upper-case and lower-case hexadecimal digits. */
function* urlForms(text: string): Generator<string> {
  const plain = encodeURIComponent(text.toWellFormed())
  const strict = plain.replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  for (const form of new Set([plain, strict, strict.replaceAll('%20', '+')])) {
    yield form
    if (form.includes('%')) yield form.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())
  }
}

/**
 * By itself; and as a part of something longer (`user:secret`), where its encoding depends on the number of bytes before
 * it: three ways, each without the characters it shares with its neighbours.
 */
function* base64Forms(text: string): Generator<string> {
  for (const form of standardBase64Forms(new TextEncoder().encode(text))) {
    yield form
    if (/[+/]/.test(form)) yield form.replaceAll('+', '-').replaceAll('/', '_')
  }
}

function* standardBase64Forms(bytes: Uint8Array): Generator<string> {
  const whole = base64(bytes)
  yield whole
  for (let from = 0; whole.length > BASE64_LINE && from < whole.length; from += BASE64_LINE) {
    const line = whole.slice(from, from + BASE64_LINE)
    if (line.length >= SHORTEST_LINE) yield line
  }
  for (const before of [0, 1, 2]) {
    const padded = new Uint8Array(before + bytes.length)
    padded.set(bytes, before)
    yield base64(padded).slice(Math.ceil((before * 8) / 6), Math.floor((padded.length * 8) / 6))
  }
}

const PIECE = 8_192

function base64(bytes: Uint8Array): string {
  let binary = ''
  for (let from = 0; from < bytes.length; from += PIECE)
    binary += String.fromCharCode(...bytes.subarray(from, from + PIECE))
  return btoa(binary)
}
