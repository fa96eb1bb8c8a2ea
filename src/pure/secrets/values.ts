import { isSecretName } from './names.ts'
import { holdsPassword } from './parts.ts'
import { isOrdinaryWord, LetterPairs } from './words.ts'

/**
 * Which values are secrets, as far as that can be told from their names and their shapes. What looks like a token is taken for
 * one; words, numbers, paths and plain addresses are not, since redacting them would make logs unreadable.
 */

/** Whatever the name says, these reveal nothing. */
const SWITCH = /^(?:true|false|yes|no|on|off|enabled|disabled|none|null)$/i

export const isSecretValue = (name: string, value: string): boolean =>
  (isSecretName(name) && !SWITCH.test(value.trim())) || looksSecret(value)

/** The beginnings of well-known tokens, and keys in PEM. */
const TOKEN = new RegExp(
  `(?:^|[^A-Za-z0-9])(?:${[
    '[sr]k[-_][\\w-]{8}',
    'gh[oprsu]_\\w{8}',
    'github_pat_\\w{8}',
    'glpat-[\\w-]{8}',
    'xox[a-z]-[\\w-]{8}',
    'A[KS]IA[A-Z0-9]{12}',
    'AIza[\\w-]{16}',
    'eyJ[\\w-]{8}',
    'ya29\\.[\\w-]{8}',
    '(?:npm|hf|brun|whsec|tok|shpat|dop_v1)_[A-Za-z0-9]{16}',
    '-----BEGIN [A-Z ]*KEY',
  ].join('|')})`,
)
/** What no address, path or version has between letters and digits, but passwords do. */
const UNUSUAL = /[!$^#%~`&]/
/** To judge a longer value takes too long. It costs nothing to redact it: no log contains all of it by chance. */
const LONGEST_JUDGED = 16 * 1024
/** Shorter values are not searched for, so that much of a value may be unusual. */
const MOST_ODD_CHARACTERS = 5

/** Whether it has the shape of a token or password, or contains one. */
export function looksSecret(value: string): boolean {
  const text = value.trim()
  if (text.length > LONGEST_JUDGED || TOKEN.test(text) || holdsPassword(text)) return true
  if (NUMBER.test(text)) return false
  const fields = fieldsIn(text)
  if (fields && secretsInJson(fields).length > 0) return true
  if (arePaths(text)) return false
  return hasLongHex(text) || hasOddWords(text) || (!fields && isUnusual(text))
}

/** With an exponent, it could be hexadecimal. */
const NUMBER = /^[-+]?\d{1,21}(?:\.\d{1,25})?(?:e[-+]?\d{1,3})?$/i

/** `C:\Program Files` has a space. */
const PATH =
  /^(?:~|\.{1,2}|[A-Za-z]:)?[/\\]([a-z0-9._-]{3,}|[A-Z][a-z]{2,})(?: [^/\\+=:;]{0,64})?(?:[/\\][^/\\+=:;]{0,64})*$/

const LONGEST_RANDOM_NAME = 12
const MOST_PATHS = 100

/**
 * One path or several. Base64 may begin with a slash, too: the first folder of a path is not named at random, and the others
 * have no long names then.
 */
function arePaths(text: string): boolean {
  const paths = text.split(/(?<!^[A-Za-z]):|;/, MOST_PATHS + 1)
  if (paths.length > MOST_PATHS) return false
  return paths.every((path) => {
    const [, first] = PATH.exec(path) ?? []
    return first !== undefined && !hasOddWords(first) && oddWordsOf(path).every(isShort)
  })
}

/** A UUID, too. */
function hasLongHex(text: string): boolean {
  return text.split(/[\s,;=/?&@"'()[\]{}<>|]+/).some((part) => {
    const digits = part.replace(/[-:_.]/g, '')
    return digits.length >= 16 && HEX.test(digits) && !IPV6.test(part)
  })
}

const HEX = /^(?=.*\d)(?=.*[a-f])[0-9a-f]+$/i
const IPV6 = /^(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4}$/i

const isUnusual = (text: string) => {
  // A channel, an expression, a home folder, a percentage, the number of an issue, a variable.
  const rest = text.replace(/^[#^~!]|%$/g, '').replace(/#\d+|\$\{?\w+\}?/g, '')
  const isOneWord = !/[\s=]|:\/\//.test(rest)
  return isOneWord && UNUSUAL.test(rest) && /\p{L}/u.test(rest) && /\p{N}/u.test(rest)
}

/** In addresses. */
const ESCAPED = /%[0-9A-F]{2}/gi

const wordsOf = (text: string) => text.replace(ESCAPED, ' ').match(/[\p{L}\p{N}]+/gu) ?? []
const oddWordsOf = (text: string) => wordsOf(text).filter((word) => !isOrdinaryWord(word))
const isShort = (word: string) => word.length <= LONGEST_RANDOM_NAME

function hasOddWords(text: string): boolean {
  const pairs = new LetterPairs()
  // Without abbreviations, and each word once: a text may be about one strange name.
  for (const letters of new Set(text.match(/\p{L}{4,}/gu))) pairs.add(letters)
  const odd = oddWordsOf(text).reduce((sum, word) => sum + word.length, 0)
  return odd > MOST_ODD_CHARACTERS || pairs.areOfRandomText
}

/** JSON that is an object or a list. */
function fieldsIn(text: string): object | null {
  if (!/^[[{]/.test(text)) return null
  try {
    return JSON.parse(text) as object
  } catch {
    return null
  }
}

const MOST_FIELDS = 1_000
const MOST_SECRETS = 200

/** The secrets among the texts of a JSON value. Not recursive: it may be nested very deep. */
export function secretsInJson(value: unknown, isSecret = isSecretValue): string[] {
  const found: string[] = []
  const waiting: [name: string, inner: unknown][] = [['', value]]
  for (let read = 0; waiting.length > 0 && read < MOST_FIELDS && found.length < MOST_SECRETS; read++) {
    const [name, inner] = waiting.pop()!
    if (typeof inner === 'string') {
      if (inner.length <= LONGEST_JUDGED && isSecret(name, inner)) found.push(inner)
    } else if (typeof inner === 'object' && inner !== null)
      for (const [key, entry] of Object.entries(inner))
        waiting.push([Array.isArray(inner) ? name : key, entry])
  }
  return found
}

/** The secrets in a value that is JSON. */
export function secretsInJsonText(text: string): string[] {
  const fields = fieldsIn(text.trim())
  return fields ? secretsInJson(fields) : []
}
