import { Composer, type CST, type Document, Lexer, Parser } from 'yaml'
import { positionsIn } from './lines.ts'
import { DEEPEST_PLAN, type Located, TOO_DEEP } from './located.ts'
import { locateJson } from './located-json.ts'
import { locateYaml } from './located-yaml.ts'
import type { Problems } from './problems.ts'

type YamlDocument = Document.Parsed
type Fault = (offset: number, message: string) => void

/** The values of a text, JSON or YAML 1.2, or null with the reported problems. */
export function readSyntax(text: string, problems: Problems): Located | null {
  const positionAt = positionsIn(text)
  let lastOffset = -1
  const fault = (offset: number, message: string) => {
    // Unclosed brackets all end at the same place; that is one mistake.
    if (offset === lastOffset) return
    lastOffset = offset
    const at = positionAt(Math.min(offset, text.length))
    problems.say(at, `${message} (line ${at.line}, column ${at.column})`)
  }
  reportUnwritable(text, fault)
  if (problems.any) return null
  if (marksIn(text) > MOST_MARKS) {
    problems.say(START, `the plan has too many values; ten thousand tasks need a fifth of that`)
    return null
  }
  if (isJson(text)) return locateJson(text, positionAt, problems)
  const document = compose(text, fault)
  if (document === null || problems.any) return null
  const version = document.directives?.yaml.version
  if (version !== undefined && version !== '1.2')
    problems.say(START, `only YAML 1.2 is supported, not YAML ${version}`)
  return locateYaml(document.contents, positionAt, problems)
}

const START = { line: 1, column: 1 }

/** Any other text, also one that is nearly JSON, is left to the YAML library, which names its mistakes. */
function isJson(text: string): boolean {
  if (!/^[ \t\r\n]*[{[]/.test(text)) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Each value follows one of these. A text with more of them than any plan needs would take minutes to parse. */
const MOST_MARKS = 600_000

function marksIn(text: string): number {
  let marks = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === 10 || code === 44 || code === 91 || code === 123) marks += 1
  }
  return marks
}

// Neither YAML nor JSON allows these, and the library uses some of them as its own control signals.
const UNWRITABLE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: keeping them out is the point
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g

function reportUnwritable(text: string, fault: Fault): void {
  for (const { 0: found, index } of text.matchAll(UNWRITABLE)) {
    const code = found.charCodeAt(0)
    const name = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
    const kind = code < 0x20 ? 'a control character' : 'half a surrogate pair'
    fault(index, `${name}, ${kind}, is not allowed in text`)
  }
}

function compose(text: string, fault: Fault): YamlDocument | null {
  const tokens = ofOneDocument(tokensOf(text, fault), fault)
  const [document] = faultTellingComposer(fault).compose(tokens, true, text.length)
  for (const error of document?.errors ?? []) fault(error.pos[0], `YAML syntax error: ${error.message}`)
  return (document as YamlDocument | undefined) ?? null
}

function* tokensOf(text: string, fault: Fault): Generator<CST.Token> {
  const parser = new Parser()
  for (const lexeme of new Lexer().lex(text)) {
    yield* parser.next(lexeme)
    // A level of the text is an entry on the parser's stack; the library would overflow the stack on really deep ones.
    if (parser.stack.length > DEEPEST_PLAN) return fault(parser.offset, `the plan ${TOO_DEEP}`)
  }
  yield* parser.end()
}

function* ofOneDocument(tokens: Iterable<CST.Token>, fault: Fault): Generator<CST.Token> {
  let isSecond = false
  for (const token of tokens) {
    if (token.type === 'error') fault(token.offset, `YAML syntax error: ${token.message}`)
    else if (token.type !== 'document') yield token
    else if (isSecond)
      return fault(token.offset, 'a second document begins here; a plan is a single document')
    else {
      yield token
      isSecond = true
    }
  }
}

/**
 * The library makes an Error object of each fault, and a few megabytes of faults would fill the memory. Reported at once,
 * they can be dropped at once.
 */
function faultTellingComposer(fault: Fault): Composer {
  const composer = new Composer({
    schema: 'core',
    resolveKnownTags: false,
    stringKeys: true,
    // Quadratic in the library; located.ts detects duplicates itself.
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'silent',
  })
  type Source = number | readonly number[] | { offset: number }
  const onError = (source: Source, code: string, message: string, isWarning?: boolean) => {
    // located.ts reports it better, with its place.
    if (isWarning || code === 'NON_STRING_KEY') return
    const offset =
      typeof source === 'number' ? source : 'offset' in source ? source.offset : (source as number[])[0]!
    fault(offset, `YAML syntax error: ${message}`)
  }
  return Object.assign(composer, { onError })
}
