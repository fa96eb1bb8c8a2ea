import { z } from 'zod'
import { plainText } from '../kinds/run/rules/answers.ts'
import type { AgentCall, Told } from '../kinds/run/shapes/told.ts'
import { withoutValues } from '../outgoing/addresses.ts'
import { isSecretName } from '../pure/secrets/names.ts'
import { type KnownSecrets, REDACTED, Redactor, redactText } from '../pure/secrets/redaction.ts'
import { isSecretValue, looksSecret } from '../pure/secrets/values.ts'

/** What a run is told, as it is kept: redacted, and no larger than this. */

const LONGEST_PROMPT_BYTES = 256 * 1024
const LONGEST_SYSTEM_PROMPT_BYTES = 64 * 1024
const LONGEST_ARGUMENT_BYTES = 8 * 1024
const ALL_ARGUMENTS_BYTES = 64 * 1024
const LONGEST_NAME = 300
const MOST_NAMES = 1_000

export const toldOf = (
  { prompt, systemPrompt }: { prompt: string; systemPrompt?: string | undefined },
  secrets: KnownSecrets,
): Told => ({
  prompt: keptText(prompt, LONGEST_PROMPT_BYTES, secrets),
  systemPrompt:
    systemPrompt === undefined ? null : keptText(systemPrompt, LONGEST_SYSTEM_PROMPT_BYTES, secrets),
})

/** The beginning of a long text. A secret that the cut divides is left out: the redactor holds its beginning back. */
function keptText(text: string, mostBytes: number, secrets: KnownSecrets): Told['prompt'] {
  const bytes = Buffer.byteLength(text)
  if (bytes <= mostBytes) return { text: plainText(redactText(text, secrets)), bytes, isCut: false }
  const beginning = new Redactor(secrets).take(text.slice(0, mostBytes))
  return { text: firstBytes(plainText(beginning), mostBytes), bytes, isCut: true }
}

/** In whole characters. */
function firstBytes(text: string, most: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= most) return text
  let end = most
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end -= 1
  return bytes.subarray(0, end).toString()
}

/** As an adapter reports it, which may be of a third party. */
const Reported = z.union([
  z.object({ command: z.string(), args: z.array(z.string()), env: z.array(z.string()).default([]) }),
  z.object({ method: z.string(), url: z.string(), headers: z.array(z.string()).default([]) }),
])

/** Null: it is no call that could be shown. */
export function callOf(reported: unknown, secrets: KnownSecrets): AgentCall | null {
  const { data } = Reported.safeParse(reported)
  if (!data) return null
  const shown = (text: string) => plainText(redactText(text, secrets))
  const names = (all: readonly string[]) =>
    all
      .slice(0, MOST_NAMES)
      .map((name) => shown(name).slice(0, LONGEST_NAME).toWellFormed())
      .sort()
  if ('command' in data) {
    const command = firstBytes(shown(data.command), LONGEST_ARGUMENT_BYTES)
    return {
      program: { command, ...argumentsOf(data.args, secrets), env: names(data.env) },
      request: null,
    }
  }
  const url = firstBytes(
    shown(URL.canParse(data.url) ? withoutValues(new URL(data.url)) : REDACTED),
    LONGEST_ARGUMENT_BYTES,
  )
  return { program: null, request: { method: shown(data.method), url, headers: names(data.headers) } }
}

/** Those of settings are shown to more people than the settings: what is a secret by its name or its shape is left out, too. */
function argumentsOf(given: readonly string[], secrets: KnownSecrets): { args: string[]; isCut: boolean } {
  const args: string[] = []
  let [isCut, bytes] = [false, 0]
  for (const [at, argument] of given.entries()) {
    const beginning = argument.slice(0, LONGEST_ARGUMENT_BYTES)
    const known = new Redactor(secrets)
    const redacted = known.take(beginning) + (beginning === argument ? known.end() : '')
    const shown = firstBytes(plainText(withoutShapes(redacted, given[at - 1])), LONGEST_ARGUMENT_BYTES)
    bytes += Buffer.byteLength(shown)
    isCut ||= Buffer.byteLength(argument) > LONGEST_ARGUMENT_BYTES
    if (bytes > ALL_ARGUMENTS_BYTES) return { args, isCut: true }
    args.push(shown)
  }
  return { args, isCut }
}

const FLAG = /^--?([A-Za-z][\w.-]*)$/
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const ASSIGNED = /^(?:--?)?([A-Za-z][\w.-]*)=(.*)$/s

/** `--token x`, `--token=x`, `TOKEN=x`, and words that look like tokens. Sessions have UUIDs. */
function withoutShapes(argument: string, before: string | undefined): string {
  const [, flag] = FLAG.exec(before ?? '') ?? []
  if (flag !== undefined && isSecretName(flag) && !argument.startsWith('-')) return REDACTED
  const [, name, value] = ASSIGNED.exec(argument) ?? []
  if (name !== undefined && isSecretName(name) && isSecretValue(name, value!))
    return argument.slice(0, argument.length - value!.length) + REDACTED
  return argument.replace(/[^\s"'=]+/g, (word) =>
    word !== REDACTED && !UUID.test(word) && looksSecret(word) ? REDACTED : word,
  )
}
