/**
 * The parts of a secret value that are secrets on their own: programs split values and print the part they use. The caller
 * drops parts that are too short to be searched for.
 */

/** The schemes of `Authorization`. Outside of headers, any other first word is just a word. */
const SCHEME =
  /^(?:Basic|Bearer|Token|Digest|ApiKey|Api-Key|Key|Bot|OAuth|DPoP|Negotiate|SSWS|GenieKey|Splunk)$/i
const TWO_WORDS = /^([A-Za-z][\w.-]*)[ \t]+(\S.*)$/s

/** Of a header: what follows its first word, and the values it lists (`session=…; theme=…`). */
export function partsOfHeader(value: string): string[] {
  const [, , rest] = TWO_WORDS.exec(value.trim()) ?? []
  return [...partsOfValue(value), ...(rest === undefined ? [] : [rest]), ...valuesListedIn(rest ?? value)]
}

/** Of any value: what follows a scheme, users and passwords of URLs, and values named as passwords. */
export function partsOfValue(value: string): string[] {
  const [, scheme, rest] = TWO_WORDS.exec(value.trim()) ?? []
  const credentials = scheme !== undefined && SCHEME.test(scheme) ? rest! : null
  return [
    ...(credentials === null ? [] : [credentials]),
    ...(credentials !== null && /^basic$/i.test(scheme!) ? pairOf(decodedBase64(credentials)) : []),
    ...loginsIn(value).flatMap((login) => pairOf(login).filter((part) => !isPlainUser(part, login))),
    ...passwordsNamedIn(value),
  ]
}

/** `postgres` before a password is no secret, and a log is full of it. */
const isPlainUser = (part: string, login: string) => /^[a-z]+$/i.test(part) && passwordIn(login) !== part

/** Whether it contains what must be a password: that of a URL or of a `Bearer`, or one that is named so. */
export const holdsPassword = (value: string): boolean =>
  /^bearer\s+\S/i.test(value) || passwordsOfAddress(value).length > 0

/** The password in a URL, as written and decoded. */
export function passwordsOfAddress(address: string): string[] {
  const given = loginsIn(address).flatMap((login) => spellings(passwordIn(login) ?? ''))
  return [...given, ...passwordsNamedIn(address)].filter((password) => password !== '')
}

/** `user:password` of every URL. A password may contain an @, though it should not. */
const loginsIn = (text: string) => [...text.matchAll(/:\/\/([^/?#\s]*)@/g)].map(([, login]) => login!)

const passwordIn = (login: string) => (login.includes(':') ? login.slice(login.indexOf(':') + 1) : null)

/** The pair, and each of the two. */
function pairOf(login: string | null): string[] {
  if (login === null) return []
  const [user] = login.split(':', 1)
  return [login, user!, passwordIn(login) ?? ''].flatMap(spellings).filter((part) => part !== '')
}

const NAMED = /(?:^|[\s?&;,])[\w.-]*(?:passw(?:or)?d|pwd|secret|token|key|signature)\s*=\s*([^\s&;,]+)/gi

/** In the query of a URL (`?token=…`) and in connection settings (`host=db password=…`). */
const passwordsNamedIn = (text: string) =>
  text.includes('=') ? [...text.matchAll(NAMED)].flatMap(([, value]) => spellings(unquoted(value!))) : []

const valuesListedIn = (text: string) =>
  text.split(/[;,]/).flatMap((pair) => {
    const at = pair.indexOf('=')
    return at === -1 ? [] : spellings(unquoted(pair.slice(at + 1).trim()))
  })

const unquoted = (text: string) => text.replace(/^(["'])(.*)\1$/s, '$2')

/** As written, and decoded. */
function spellings(text: string): string[] {
  if (!text.includes('%')) return [text]
  try {
    return [text, decodeURIComponent(text)]
  } catch {
    return [text]
  }
}

function decodedBase64(text: string): string | null {
  try {
    const binary = atob(text.trim().replaceAll('-', '+').replaceAll('_', '/'))
    return new TextDecoder().decode(Uint8Array.from(binary, (character) => character.charCodeAt(0)))
  } catch {
    return null
  }
}
