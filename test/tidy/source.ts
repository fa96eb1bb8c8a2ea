/** Reads source text and distinguishes code from comments and strings. Made for code that biome has formatted. */
export interface Dissected {
  /** The source with comments and the insides of strings blanked out; every character keeps its place. */
  code: string
  strings: { text: string; line: number }[]
}

export function dissect(source: string): Dissected {
  const strings: Dissected['strings'] = []
  let code = ''
  let at = 0
  /** Depth of braces inside each template literal that is open around us. */
  const templates: number[] = []

  const keep = (length: number) => {
    code += source.slice(at, at + length)
    at += length
  }
  const blank = (end: number) => {
    code += source.slice(at, end).replace(/[^\n]/g, ' ')
    at = end
  }
  const string = (end: number) => {
    strings.push({ text: source.slice(at, end), line: lineAt(source, at) })
    blank(end)
  }
  /** From inside a template literal to its end, or to the next expression in it. */
  const template = () => {
    const end = endOf(source, at, /\\[\s\S]|`|\$\{/g, ['`', '${'])
    string(end)
    if (source[at] === '`') keep(1)
    else {
      keep(2)
      templates.push(0)
    }
  }

  while (at < source.length) {
    const two = source.slice(at, at + 2)
    const one = source[at]!
    if (two === '//') blank(indexOr(source, '\n', at))
    else if (two === '/*') blank(indexOr(source, '*/', at) + 2)
    else if (one === "'" || one === '"') {
      keep(1)
      // In the text of JSX an apostrophe opens no string; at the end of its line the harm ends.
      string(endOf(source, at, /\\[\s\S]|['"\n]/g, [one, '\n']))
      keep(1)
    } else if (one === '`') {
      keep(1)
      template()
    } else if (one === '/' && !isOfTag(source, at) && beginsRegex(code)) {
      keep(1)
      blank(endOf(source, at, /\\[\s\S]|\[(?:\\[\s\S]|[^\]\\])*\]|\//g, ['/']))
      keep(1)
    } else if (one === '}' && templates.at(-1) === 0) {
      keep(1)
      templates.pop()
      template()
    } else {
      if (one === '{' && templates.length > 0) templates[templates.length - 1]! += 1
      if (one === '}' && templates.length > 0) templates[templates.length - 1]! -= 1
      keep(1)
    }
  }
  return { code, strings }
}

export const lineAt = (source: string, at: number) => source.slice(0, at).split('\n').length

const indexOr = (source: string, text: string, from: number) => {
  const found = source.indexOf(text, from)
  return found === -1 ? source.length : found
}

/** Where the first of `ends` is, skipping whatever else the pattern matches. */
function endOf(source: string, from: number, pattern: RegExp, ends: readonly string[]): number {
  pattern.lastIndex = from
  for (let match = pattern.exec(source); match; match = pattern.exec(source))
    if (ends.includes(match[0])) return match.index
  return source.length
}

const beginsRegex = (before: string) =>
  /(^|[(,=:[!&|?{};+*%<>~^-]|\b(return|typeof|case|of|in))\s*$/.test(before)

/** The slash of `</a>` or `<a />`. */
const isOfTag = (source: string, at: number) => source[at - 1] === '<' || source[at + 1] === '>'

/** Every module a file imports or exports from. The name is read from the source, its place from the code. */
export const importsOf = (source: string): string[] => [...importsIn(source)].map(({ name }) => name)

/** Those that are loaded with the file: neither later, by `await import()`, nor erased. */
export const importsAtOnce = (source: string): string[] =>
  [...importsIn(source)]
    .filter(({ before }) => !/\bawait $/.test(before) && !ONLY_TYPES.test(before))
    .map(({ name }) => name)

/** Those that remain when types are erased. */
export const importsAtRunTime = (source: string): string[] =>
  [...importsIn(source)].filter(({ before }) => !ONLY_TYPES.test(before)).map(({ name }) => name)

const ONLY_TYPES = /\b(?:import|export) type (?:\w+|\{[^{}]*\}|\* as \w+|\*) $|\btypeof $/
/** The names that one statement imports are shorter. */
const LONGEST_STATEMENT = 3_000

/** Each import, with the code before its `from` or `import(`. */
function* importsIn(source: string): Generator<{ name: string; before: string }> {
  const { code } = dissect(source)
  const pattern = /\b(?:from|import)\s*\(?\s*(['"])/g
  for (let match = pattern.exec(code); match; match = pattern.exec(code)) {
    const begin = match.index + match[0].length
    yield {
      name: source.slice(begin, code.indexOf(match[1]!, begin)),
      before: code.slice(Math.max(match.index - LONGEST_STATEMENT, 0), match.index),
    }
  }
}

const CONTROL =
  /^(} )?(if|else|for|while|do|switch|try|catch|finally|class|export (abstract )?class|interface|export interface)\b/

/** The functions of a file, with the lines they take: a header that ends in `{`, and its closing brace below it. */
export function functionsOf(source: string): { name: string; line: number; lines: number }[] {
  const lines = dissect(source).code.split('\n')
  const indentOf = (line: string) => line.length - line.trimStart().length
  return lines.flatMap((line, i) => {
    if (!/(=>|\)|\)\s*:.*) \{$/.test(line)) return []
    const indent = indentOf(line)
    let first = i
    // A header of several lines ends in one that begins with its closing bracket.
    if (/^\s*[)\]}]/.test(line))
      do first -= 1
      while (first > 0 && (lines[first]!.trim() === '' || indentOf(lines[first]!) !== indent))
    const header = lines[first]!.trim()
    if (CONTROL.test(header)) return []
    const length = lines
      .slice(i + 1)
      .findIndex((one) => indentOf(one) === indent && one.trim().startsWith('}'))
    return length === -1 ? [] : [{ name: header, line: first + 1, lines: i + 2 + length - first }]
  })
}
