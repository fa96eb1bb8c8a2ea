/** Shorter ones would black out half of every text, and protect nothing. */
const SHORTEST_SECRET = 6
/** A line of a key of several lines is a secret by itself from this length on. */
const SHORTEST_LINE = 16
/** After so many characters the usual tools break base64 into lines. */
const BASE64_LINE = 76

/** Whether it is long enough to be looked for. */
export const canBeHidden = (secret: string): boolean => secret.trim().length >= SHORTEST_SECRET

/** The ways in which a secret turns up in output: as it is, escaped, encoded, and the lines of it. */
export function formsOf(secret: string): Set<string> {
  const lines = secret.split(/[\r\n]+/).flatMap((line) => [line, line.trim()])
  const parts = [secret, secret.trim(), ...lines.filter((line) => line.length >= SHORTEST_LINE)]
  const written = parts.flatMap((part) => [part, ...jsonForms(part), ...urlForms(part)])
  return new Set([...written, ...base64Forms(secret), ...base64Forms(secret.trim())].filter(canBeHidden))
}

const escaped = (text: string) => JSON.stringify(text).slice(1, -1)
const unit = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/** As a JSON string says it; as writers do that keep to ASCII or stay clear of HTML; and JSON within JSON. */
function jsonForms(text: string): string[] {
  const once = escaped(text)
  const forms = [
    once,
    once.replaceAll('/', '\\/'),
    once.replace(/[<>&]/g, unit),
    once.replace(/[\u007f-\uffff]/g, unit),
  ]
  return [...forms, ...forms.map(escaped)]
}

/** In addresses and in forms, with large and with small hexadecimal digits. */
function urlForms(text: string): string[] {
  const plain = encodeURIComponent(text.toWellFormed())
  const strict = plain.replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  const forms = [plain, strict, strict.replaceAll('%20', '+')]
  return [...forms, ...forms.map((form) => form.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()))]
}

/**
 * By itself; and as a part of something longer (`user:secret`), where what it looks like depends on how many bytes come
 * before it: three ways, each without the characters that it shares with its neighbours.
 */
function base64Forms(text: string): string[] {
  const bytes = new TextEncoder().encode(text)
  const whole = base64(bytes)
  const forms = [whole]
  for (let from = 0; whole.length > BASE64_LINE && from < whole.length; from += BASE64_LINE) {
    const line = whole.slice(from, from + BASE64_LINE)
    if (line.length >= SHORTEST_LINE) forms.push(line)
  }
  for (const before of [0, 1, 2]) {
    const padded = new Uint8Array(before + bytes.length)
    padded.set(bytes, before)
    forms.push(base64(padded).slice(Math.ceil((before * 8) / 6), Math.floor((padded.length * 8) / 6)))
  }
  return [...forms, ...forms.map((form) => form.replaceAll('+', '-').replaceAll('/', '_'))]
}

function base64(bytes: Uint8Array): string {
  let binary = ''
  for (const byte of bytes) binary += String.fromCharCode(byte)
  return btoa(binary)
}
