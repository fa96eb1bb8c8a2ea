/** Tells words, as people write them, from random characters. */

/**
 * Pairs of letters that hardly any word has, by their first letter: two of five pairs of random letters, and less than one of
 * fifty in words and names of several languages.
 */
const RARE_PAIRS = `a:ehoq b:dfgkqvwxz c:bdfgjnpvwxz d:kqtwxz f:bcdghjknpqvwxz g:bdjkpqvwxz h:bcdfghjkpqvwxz i:hiqwy
  j:bcdfghklmnpqrtvwxyz k:bcghjkmqvwxz l:ghjqwxz m:fghjkqrtvwxz n:qwz o:hqz p:bcfjknqvwxz
  q:abcdefghijkmnopqrstvwxyz r:jqxz s:gjvxz t:jkqvxz u:hjkquvwyz v:bcdfghjklmnpqrstvwxyz w:bcdfgjkmpqtuvwxyz
  x:bdfghjkmnoqrsuvwxz y:hjkqruvxyz z:bcdfgjklmnpqrstuvwxy`

const LETTERS = 26
const numberOf = (text: string, at: number) => (text.charCodeAt(at) | 0x20) - 0x61
const isRare = new Uint8Array(LETTERS * LETTERS)
for (const [first, ...seconds] of RARE_PAIRS.replaceAll(':', '').trim().split(/\s+/))
  for (const second of seconds) isRare[numberOf(first!, 0) * LETTERS + numberOf(second, 0)] = 1

/** Counts the pairs of letters in words. */
export class LetterPairs {
  #all = 0
  #rare = 0

  add(word: string): this {
    for (let i = 1; i < word.length; i++) {
      const [first, second] = [numberOf(word, i - 1), numberOf(word, i)]
      if (first < 0 || first >= LETTERS || second < 0 || second >= LETTERS) continue
      this.#all++
      this.#rare += isRare[first * LETTERS + second]!
    }
    return this
  }

  /** One rare pair proves nothing: there is stockholm. Two in one word do. */
  get areOfRandomWord(): boolean {
    return this.#rare >= 2
  }

  /** A long text has some, and so do abbreviations. */
  get areOfRandomText(): boolean {
    return this.#rare >= 3 && this.#rare * 6 >= this.#all
  }
}

/** `v1beta2`, `1h30m`, `20250131T120000Z`, `1920x1080`. */
const MIXED_ON_PURPOSE =
  /^(?:v\d{1,3}(?:alpha|beta|rc)\d{1,3}|(?:\d{1,6}(?:ms|[smhdw]))+|\d{8}T\d{4,6}Z?|\d{1,5}x\d{1,5})$/
/** `m5`, `us1a`, `2xlarge`, `base64url`, `worker12`, `build20250131`: at most 10 characters, or a word and a number. */
const MIXED_SIMPLY =
  /^(?=.{1,10}$)(?:\p{L}+\p{N}+|\p{N}+\p{L}+|\p{L}+\p{N}{1,3}\p{L}+|(?=.{1,6}$)\p{N}+\p{L}+\p{N}+)$|^\p{L}+\p{N}{1,8}$/u
/** No number that people write has more digits. */
const MOST_DIGITS = 19

/** Whether letters and digits without anything between them are a word, a number, or a simple mixture of both. */
export function isOrdinaryWord(text: string): boolean {
  const words = text.match(/\p{L}+/gu) ?? []
  if (words.length === 0) return text.length <= MOST_DIGITS
  if (words[0] === text) return isWord(text)
  if (MIXED_ON_PURPOSE.test(text)) return true
  return MIXED_SIMPLY.test(text) && words.every((word) => isWord(word) && ONE_CASE.test(word))
}

const ONE_CASE = /^(?:\p{Lu}?[^\p{Lu}]*|\p{Lu}+)$/u
const CASE_CHANGES = /\p{Lu}(?=\p{Ll})|\p{Ll}(?=\p{Lu})/gu
const LONG_WORD = 12

/** `camelCase` and `GitHub` are words. */
function isWord(letters: string): boolean {
  if (new LetterPairs().add(letters).areOfRandomWord) return false
  if (ONE_CASE.test(letters)) return true
  const changes = letters.match(CASE_CHANGES)?.length ?? 0
  return changes * (letters.length < LONG_WORD ? 2 : 3) <= letters.length
}
