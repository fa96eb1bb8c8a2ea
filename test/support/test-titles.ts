/** The titles of the tests in a source, as written: `%s` of each and `${…}` of templates stay. */
export function titlesOf(source: string): string[] {
  const titles: string[] = []
  for (const { index, 0: word } of source.matchAll(/(?<![\w.$'"`/])(?:test|it|\w+Test)(?=[.(<])/g)) {
    const title = titleOfCall(source, index + word.length)
    if (title !== null) titles.push(title)
  }
  return titles
}

/** Of `test(…)`, `test.skipIf(…)(…)`, `test.each(…)(…)`: the first argument of the last call, if it is a text. */
function titleOfCall(source: string, from: number): string | null {
  let at = from
  let title: string | null = null
  for (;;) {
    const rest = source.slice(at)
    const property = /^\s*\.\w+(?:<[^(]*>(?=\())?/.exec(rest)
    if (property) at += property[0].length
    else if (source[at] === '(') {
      title = textAt(source, at + 1 + /^\s*/.exec(source.slice(at + 1))![0].length)
      at = endOf(source, at)
    } else return title
  }
}

function textAt(source: string, at: number): string | null {
  if (!/['"`]/.test(source[at] ?? '')) return null
  const end = endOf(source, at)
  // What continues after it is a part of an expression, or the arguments of `each`.
  if (!/^\s*[,)]/.test(source.slice(end))) return null
  return source.slice(at + 1, end - 1).replace(/\\(['"`\\])/g, '$1')
}

const CLOSING: Record<string, string> = { '(': ')', '[': ']', '{': '}' }

/** Behind the text, or the brackets with their content, that begin here. */
function endOf(source: string, from: number): number {
  const open = source[from]!
  let at = from + 1
  while (at < source.length) {
    const here = source[at]!
    if (open in CLOSING) {
      if (here === CLOSING[open]) return at + 1
      if (source.startsWith('//', at)) at = source.indexOf('\n', at)
      else if (here in CLOSING || /['"`]/.test(here)) at = endOf(source, at)
      else at += isRegExp(source, at) ? lengthOfRegExp(source, at) : 1
    } else if (here === '\\') at += 2
    else if (here === open) return at + 1
    else if (open === '`' && source.startsWith('${', at)) at = endOf(source, at + 1)
    else at += 1
  }
  return at
}

/** A slash where a value begins. */
const isRegExp = (source: string, at: number) =>
  source[at] === '/' && /[(,=:[!&|?{}\n]\s*$/.test(source.slice(Math.max(0, at - 20), at))
const lengthOfRegExp = (source: string, at: number) =>
  /^\/(?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\[\n])+\//.exec(source.slice(at, at + 500))?.[0].length ?? 1
