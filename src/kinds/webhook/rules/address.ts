/** The address of a webhook as people may see it. Many services have a token in the path or in the query. */

/** Short lower-case words, such as `hooks` or `v1`, are no tokens. */
const WORD = /^[a-z][a-z-]{0,19}\d{0,2}$/

export function shownUrl(given: string): string {
  const { origin, pathname, searchParams } = new URL(given)
  const path = pathname
    .split('/')
    .map((part) => (part === '' || WORD.test(part) ? part : '…'))
    .join('/')
  const names = [...searchParams.keys()].map((name) => `${WORD.test(name) ? name : '…'}=…`)
  return `${origin}${path}${names.length > 0 ? `?${names.join('&')}` : ''}`
}

/** What is wrong with an address, before it is resolved. */
export function problemOfUrl(given: string): string | null {
  const url = URL.canParse(given) ? new URL(given) : null
  if (!url || !/^https?:$/.test(url.protocol))
    return 'must be an address that begins with http:// or https://'
  if (url.username !== '' || url.password !== '') return 'must not contain a login'
  if (url.hash !== '') return 'must not contain a "#"'
  return null
}

const LEAST_TOKEN = 6

/** A text without the parts of the address that nobody may see: a receiver may repeat them in its answer. */
export function withoutTokens(text: string, given: string): string {
  const { pathname, search, searchParams } = new URL(given)
  const parts = [...pathname.split('/').filter((part) => !WORD.test(part)), search, ...searchParams.values()]
  const tokens = parts.flatMap((part) => [part, decoded(part)]).filter((part) => part.length >= LEAST_TOKEN)
  return tokens.sort((a, b) => b.length - a.length).reduce((left, token) => left.replaceAll(token, '…'), text)
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
