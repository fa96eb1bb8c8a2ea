import { z } from 'zod'
import type { AdapterInvokeResult, Validation } from './protocol.ts'

/** Settings of adapters: shared parts, and how they are parsed. */

const LONGEST_TEXT = 64 * 1024
const DAYS_7_IN_SEC = 7 * 86_400

const WITHOUT_NUL = /^[^\0]*$/
/** Text that may become an argument, a path or an environment variable. */
export const PlainText = z.string().max(LONGEST_TEXT).regex(WITHOUT_NUL, 'must not contain a NUL character')
const NonEmpty = PlainText.min(1)

const VariableName = z
  .string()
  .max(200)
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'is not a valid variable name: use letters, digits and _ only')
  .refine((name) => !name.startsWith('BATON_'), 'cannot be set: names that begin with BATON_ are reserved')

/** The path of a program, or a name to look up in PATH. */
export const Command = NonEmpty.max(4_096).regex(/^[^-]/, 'must not begin with a dash')

/** A program before or after each run. */
const RunHook = z.strictObject({
  command: Command,
  args: z.array(PlainText).max(1_000).default([]),
  timeoutSeconds: z.int().min(1).max(3_600).default(60),
})
export type RunHook = z.output<typeof RunHook>
const RunHooks = z.strictObject({ before: RunHook.optional(), after: RunHook.optional() })

/** The hooks in settings that are valid. */
export const hooksIn = ({ hooks }: Record<string, unknown>): z.output<typeof RunHooks> =>
  RunHooks.parse(hooks ?? {})

/** Settings of every adapter: the prompt and the timeouts. */
export const commonSettings = {
  promptTemplate: z.string().max(LONGEST_TEXT).optional(),
  timeoutSec: z.int().min(1).max(DAYS_7_IN_SEC).default(1_800),
  graceSec: z.int().min(0).max(600).default(20),
}

/** Settings of every adapter that works on this machine: its folder and its environment. */
export const localSettings = {
  ...commonSettings,
  cwd: NonEmpty.optional(),
  env: z.record(VariableName, PlainText).default({}),
  /** Which values of `env` are secret though neither name nor value looks like it. */
  secretEnv: z.array(z.string().max(200)).max(1_000).default([]),
  workspace: z.enum(['cwd', 'git_worktree']).default('cwd'),
  /** Where a worktree starts from; by default what is checked out in cwd. */
  baseBranch: NonEmpty.max(250).regex(/^[^-]/, 'must not begin with a dash').optional(),
  cleanup: z.enum(['never', 'when_clean']).default('when_clean'),
  hooks: RunHooks.optional(),
}

export interface Config<T> {
  /** As JSON Schema. */
  schema: Record<string, unknown>
  validate(config: unknown): Validation
  /** The settings with their defaults, or the result of a run whose settings are invalid. */
  read(config: unknown): { ok: true; settings: T } | { ok: false; result: AdapterInvokeResult }
}

/** Validates and parses the settings of an adapter type. */
export function configOf<T>(adapterType: string, shape: z.ZodType<T>): Config<T> {
  const { $schema: _draft, ...schema } = z.toJSONSchema(shape, {
    target: 'draft-7',
    io: 'input',
    unrepresentable: 'any',
  })
  const parse = (config: unknown): { ok: true; settings: T } | { ok: false; errors: string[] } => {
    try {
      const parsed = shape.safeParse(config)
      const missing = parsed.success ? missingInEnv(parsed.data as Secretive) : []
      if (missing.length > 0) return { ok: false, errors: missing }
      if (parsed.success) return { ok: true, settings: parsed.data }
      return { ok: false, errors: parsed.error.issues.flatMap((issue) => sentencesOf(issue, adapterType)) }
    } catch {
      return { ok: false, errors: [`The settings of ${adapterType} cannot be read.`] }
    }
  }
  return {
    schema,
    validate(config) {
      const parsed = parse(config)
      return parsed.ok ? { ok: true } : parsed
    },
    read(config) {
      const parsed = parse(config)
      if (parsed.ok) return parsed
      return { ok: false, result: failed('invalid_configuration', parsed.errors.join(' ')) }
    },
  }
}

interface Secretive {
  env?: Record<string, string>
  secretEnv?: readonly string[]
}

/** A misspelt name would leave its secret readable. */
const missingInEnv = ({ env = {}, secretEnv = [] }: Secretive) =>
  secretEnv.flatMap((name, i) =>
    Object.hasOwn(env, name) ? [] : [`secretEnv[${i}] names ${name}, which env does not have.`],
  )

/** The result of a failed run. */
export const failed = (
  errorCode: NonNullable<AdapterInvokeResult['errorCode']>,
  errorMessage: string,
): AdapterInvokeResult => ({ outcome: 'failed', exitCode: null, errorCode, errorMessage })

type Issue = z.core.$ZodIssue

/** The faults of settings, one sentence each, with the adapter they belong to. */
export function sentencesOf(issue: Issue, adapterType: string): string[] {
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => `${fieldOf([...issue.path, key])} is not a setting of ${adapterType}.`)
  const closest = issue.code === 'invalid_union' ? closestForm(issue.errors) : null
  if (closest)
    return closest.flatMap((one) => sentencesOf({ ...one, path: [...issue.path, ...one.path] }, adapterType))
  return [`${fieldOf(issue.path) || `The configuration of ${adapterType}`} ${complaintOf(issue)}.`]
}

/** The form with the fewest faults; null when several are equally close. */
function closestForm(forms: readonly Issue[][]): Issue[] | null {
  const [nearest, next] = forms.toSorted((a, b) => faultsIn(a) - faultsIn(b))
  return nearest && next && faultsIn(nearest) < faultsIn(next) ? nearest : null
}

const faultsIn = (issues: readonly Issue[]) =>
  issues.reduce((sum, issue) => sum + (issue.code === 'unrecognized_keys' ? issue.keys.length : 1), 0)

function complaintOf(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.message.endsWith('received undefined')
        ? 'is missing'
        : `must be ${NAMES[issue.expected] ?? issue.expected}`
    case 'invalid_value':
      return `must be one of ${issue.values.map(String).join(', ')}`
    case 'invalid_key':
      return issue.issues[0]?.message ?? 'has an invalid name'
    case 'too_small':
      return issue.origin === 'string' || issue.origin === 'array'
        ? `must not be shorter than ${issue.minimum}`
        : `must not be less than ${issue.minimum}`
    case 'too_big':
      return issue.origin === 'string' || issue.origin === 'array'
        ? `must not be longer than ${issue.maximum}`
        : `must not be more than ${issue.maximum}`
    case 'invalid_union':
      return 'matches none of the allowed forms'
    default:
      return issue.message
  }
}

const NAMES: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
}

const fieldOf = (path: readonly PropertyKey[]) =>
  path
    .map((part, i) => (typeof part === 'number' ? `[${part}]` : i === 0 ? String(part) : `.${String(part)}`))
    .join('')
