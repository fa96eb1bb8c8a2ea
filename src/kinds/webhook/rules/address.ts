import type { Format } from '../record.ts'

/** The address of a webhook as people may see it. Many services have a token in the path or in the query. */

/** Short lower-case words, such as `hooks` or `v1`, are no tokens. */
const WORD = /^[a-z][a-z-]{0,19}\d{0,2}$/

/** Services whose address is a secret as a whole. */
const isSecretWhole = (format: Format) => format === 'slack' || format === 'discord' || format === 'ntfy'

const isShown = (part: string, format: Format) => part === '' || (WORD.test(part) && !isSecretWhole(format))

export function shownUrl(given: string, format: Format): string {
  const { origin, pathname, searchParams } = new URL(given)
  const path = pathname
    .split('/')
    .map((part) => (isShown(part, format) ? part : '…'))
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
export function withoutTokens(text: string, given: string, format: Format): string {
  const { pathname, search } = new URL(given)
  const parts = [
    ...pathname.split('/').filter((part) => !isShown(part, format)),
    ...search.split(/[?&]/).flatMap((one) => [one.slice(one.indexOf('=') + 1)]),
  ]
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
