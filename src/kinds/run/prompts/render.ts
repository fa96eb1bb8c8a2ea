import type { Template, TemplateNode } from './template.ts'
import { BATON_SKILL } from './texts.ts'
import { isSensitive, type PromptPath, type PromptValues, sensitivePaths } from './variables.ts'

/** Renders templates with values. */

export const LONGEST_PROMPT_BYTES = 1024 * 1024

export function renderTemplate(template: Template, values: PromptValues): string {
  return filledIn(template, shownIn(values))
}

/** The same for people: sensitive values are named, not shown, wherever they appear. */
export function previewTemplate(template: Template, values: PromptValues): string {
  const secrets = sensitivePaths.map((path): Secret => ({ path, text: asText(values[path]) }))
  const show = shownIn(values)
  const masked = (path: PromptPath) => (isSensitive(path) ? `[${path}]` : withoutSecrets(show(path), secrets))
  return withoutSecrets(filledIn(template, masked), secrets)
}

interface Secret {
  path: PromptPath
  text: string
}

/** Shorter ones would black out half of the prompt, and are not keys. */
const SHORTEST_SECRET = 6

const withoutSecrets = (text: string, secrets: readonly Secret[]) =>
  secrets
    .filter((secret) => secret.text.length >= SHORTEST_SECRET)
    .reduce((shown, secret) => shown.replaceAll(secret.text, () => `[${secret.path}]`), text)

type Show = (path: PromptPath) => string

/** The text of a value in a prompt; each is formatted once, however often it is used. */
function shownIn(values: PromptValues): Show {
  const shown = new Map<PromptPath, string>()
  return (path) => {
    const known = shown.get(path)
    if (known !== undefined) return known
    const value = Object.hasOwn(values, path) ? values[path] : undefined
    const text = asText(path === 'baton.skill' ? (value ?? BATON_SKILL) : value)
    shown.set(path, text)
    return text
  }
}

/** Empty when there is nothing to show. */
function asText(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'string') return value
  if (typeof value === 'bigint') return String(value)
  const json = JSON.stringify(value) ?? ''
  return json === '[]' || json === '{}' ? '' : json
}

interface Part {
  text: string
  bytes: number
  isValue: boolean
}

function filledIn({ nodes }: Template, show: Show): string {
  const parts = [...partsOf(nodes, show)]
  const bytes = parts.reduce((sum, part) => sum + part.bytes, 0)
  if (bytes <= LONGEST_PROMPT_BYTES) return parts.map(({ text }) => text).join('')
  const longest = longestThatFits(parts)
  return parts.map((part) => (part.isValue ? shortened(part, longest) : part.text)).join('')
}

const encoder = new TextEncoder()

function* partsOf(nodes: readonly TemplateNode[], show: Show): Generator<Part> {
  for (const node of nodes) {
    if (node.kind === 'section') {
      const isThere = show(node.path) !== ''
      if (isThere !== node.isInverted) yield* partsOf(node.nodes, show)
      continue
    }
    const text = node.kind === 'text' ? node.text : show(node.path)
    yield { text, bytes: encoder.encode(text).length, isValue: node.kind === 'value' }
  }
}

/** Reserved for the note on a value that was cut. */
const NOTE_BYTES = 80

/**
 * The longest length of a value at which all fit: the longest are cut first, and to the same length. A template is so much
 * shorter than a prompt that there is always room.
 */
function longestThatFits(parts: readonly Part[]): number {
  const values = parts.filter(({ isValue }) => isValue).map(({ bytes }) => bytes)
  const text = parts.reduce((sum, part) => sum + (part.isValue ? 0 : part.bytes), 0)
  let room = LONGEST_PROMPT_BYTES - text
  let left = values.length
  for (const bytes of values.sort((one, other) => one - other)) {
    // Values within an equal share of the room are shown whole; the others share the rest.
    if (bytes > room / left) break
    room -= bytes
    left--
  }
  return Math.floor(room / left) - NOTE_BYTES
}

function shortened({ text, bytes }: Part, longest: number): string {
  if (bytes <= longest + NOTE_BYTES) return text
  // The encoder stops between characters, never inside one.
  const { read, written } = encoder.encodeInto(text, new Uint8Array(longest))
  return `${text.slice(0, read)}\n[truncated: ${written} of ${bytes} bytes are shown]\n`
}
