import type { FormValues } from '../../forms/schema-fields.ts'
import type { Waking } from './schedule.ts'
import { secondsIn, spanText } from './spans.ts'
import type { AgentRead } from './use-agent.ts'
import { listIn, listProblem, listText } from './words-list.ts'

/** The fields of an agent that all types have, in a form and out of it. `$` keeps them apart from those of its type. Pure. */

/** What a form is filled from: an agent, a template, or nothing. */
export type Filling = Partial<
  Pick<AgentRead, 'name' | 'maxConcurrentTasks' | 'taskTypes' | 'capabilities' | 'runtimeConfig'>
>

type Json = Record<string, unknown>
const jsonIn = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {}

const DAY = 86_400

/** Spans: where they are stored, their standard, and their bounds, in seconds. */
const SPANS = {
  $timer: { path: 'heartbeat.intervalSec', standard: null, least: 1, most: 30 * DAY, isWhole: true },
  $cooldown: { path: 'heartbeat.cooldownSec', standard: 0, least: 0, most: DAY, isWhole: false },
  $silent: { path: 'watch.silentSec', standard: 300, least: 0, most: 7 * DAY, isWhole: true },
  $stopSilent: { path: 'watch.stopSilentSec', standard: 1_200, least: 0, most: 7 * DAY, isWhole: true },
  $idle: { path: 'watch.idleSec', standard: 900, least: 0, most: 7 * DAY, isWhole: true },
  $stopIdle: { path: 'watch.stopIdleSec', standard: 1_800, least: 0, most: 7 * DAY, isWhole: true },
} as const

const COUNTS = {
  $wakeups: { path: 'heartbeat.maxWakeupsPerTaskPerHour', standard: 60, least: 1, most: 100_000 },
  $sameCalls: { path: 'watch.sameCalls', standard: 4, least: 0, most: 10_000 },
  $errors: { path: 'watch.errors', standard: 3, least: 0, most: 10_000 },
  $rounds: { path: 'watch.rounds', standard: 3, least: 0, most: 10_000 },
} as const

const SWITCHES = {
  $enabled: { path: 'heartbeat.enabled', standard: true },
  $onAssignment: { path: 'heartbeat.wakeOnAssignment', standard: true },
  $onDemand: { path: 'heartbeat.wakeOnOnDemand', standard: true },
  $onAutomation: { path: 'heartbeat.wakeOnAutomation', standard: true },
  $reserved: { path: 'reservedOnly', standard: false },
  $fresh: { path: 'fresh', standard: false },
} as const

const TEXTS = {
  $title: { path: 'title', longest: 200 },
  $role: { path: 'role', longest: 2_000 },
  $node: { path: 'node', longest: 200 },
} as const

export const standardOf = (name: keyof typeof SPANS | keyof typeof COUNTS): number | null =>
  ({ ...SPANS, ...COUNTS })[name].standard

const at = (config: Json, path: string): unknown =>
  path.split('.').reduce<unknown>((inner, name) => jsonIn(inner)[name], config)

const fill = <Name extends string>(
  fields: Readonly<Record<Name, { path: string }>>,
  value: (name: Name) => string | boolean,
) => Object.fromEntries((Object.keys(fields) as Name[]).map((name) => [name, value(name)]))

/** The form as it shows an agent. What has its standard is empty, and the standard stands in grey. */
export function ownValuesOf(filling: Filling): FormValues {
  const { name = '', maxConcurrentTasks, taskTypes = [], capabilities = [] } = filling
  const config = jsonIn(filling.runtimeConfig)
  const numberAt = (path: string) => {
    const value = at(config, path)
    return typeof value === 'number' ? value : null
  }
  const models = at(config, 'fallbackModels')
  return {
    $name: name,
    $tasks: maxConcurrentTasks === null ? '' : String(maxConcurrentTasks ?? 1),
    $types: listText(taskTypes),
    $capabilities: listText(capabilities),
    $models: Array.isArray(models) ? listText(models.map(String)) : '',
    ...fill(SPANS, (field) => spanText(numberAt(SPANS[field].path))),
    ...fill(COUNTS, (field) => String(numberAt(COUNTS[field].path) ?? '')),
    ...fill(SWITCHES, (field) => {
      const value = at(config, SWITCHES[field].path)
      return typeof value === 'boolean' ? value : SWITCHES[field].standard
    }),
    ...fill(TEXTS, (field) => {
      const value = at(config, TEXTS[field].path)
      return typeof value === 'string' ? value : ''
    }),
  }
}

type Body = Required<Omit<Filling, 'name'>> & { name?: string }

/** Writes a setting, or removes it where it has its standard. */
function put(config: Json, path: string, value: unknown): void {
  const [group, name] = path.split('.') as [string, string?]
  if (name === undefined) {
    if (value === undefined) delete config[group]
    else config[group] = value
    return
  }
  const inner = { ...jsonIn(config[group]) }
  if (value === undefined) delete inner[name]
  else inner[name] = value
  if (Object.keys(inner).length === 0) delete config[group]
  else config[group] = inner
}

/** What the form says, and what cannot be read, by field. Settings that the form does not show stay as they were. */
export function ownBodyOf(
  values: FormValues,
  before: unknown,
): { body: Body; problems: Record<string, string> } {
  const problems: Record<string, string> = {}
  const config: Json = { ...jsonIn(before) }
  const text = (name: string) => String(values[name] ?? '').trim()
  for (const [name, { path, ...bounds }] of Object.entries(SPANS)) {
    const read = secondsIn(String(values[name] ?? ''), bounds)
    if ('problem' in read) problems[name] = read.problem
    else put(config, path, read.seconds ?? undefined)
  }
  for (const [name, { path, least, most }] of Object.entries(COUNTS)) {
    const problem = countProblem(text(name), least, most)
    if (problem) problems[name] = problem
    else put(config, path, text(name) === '' ? undefined : Number(text(name)))
  }
  for (const [name, { path, standard }] of Object.entries(SWITCHES)) {
    const value = values[name] === true
    put(config, path, value === standard ? undefined : value)
  }
  for (const [name, { path, longest }] of Object.entries(TEXTS)) {
    if (text(name).length > longest) problems[name] = tooLong(text(name), longest)
    else put(config, path, text(name) === '' ? undefined : text(name))
  }
  const models = listIn(text('$models'))
  put(config, 'fallbackModels', models.length === 0 ? undefined : models)
  const lists = {
    $models: [models, 20, 200],
    $types: [listIn(text('$types'))],
    $capabilities: [listIn(text('$capabilities'))],
  }
  for (const [name, [words, most, longest]] of Object.entries(lists) as [
    string,
    [string[], number?, number?],
  ][]) {
    const problem = listProblem(words, most, longest)
    if (problem) problems[name] = problem
  }
  if (text('$name').length > 200) problems.$name = tooLong(text('$name'), 200)
  const tasks = countProblem(text('$tasks'), 1, 100_000)
  if (tasks) problems.$tasks = tasks
  const maxConcurrentTasks = text('$tasks') === '' ? null : Number(text('$tasks'))
  return {
    body: {
      ...(text('$name') !== '' && { name: text('$name') }),
      maxConcurrentTasks,
      taskTypes: listIn(text('$types')),
      capabilities: listIn(text('$capabilities')),
      runtimeConfig: config,
    },
    problems,
  }
}

const tooLong = (text: string, longest: number) =>
  `At most ${longest.toLocaleString('en-US')} characters; these are ${text.length.toLocaleString('en-US')}.`

function countProblem(text: string, least: number, most: number): string | null {
  if (text === '') return null
  const number = Number(text)
  if (!Number.isFinite(number) || !Number.isInteger(number)) return 'Write a whole number.'
  if (number < 0) return 'It cannot be negative.'
  if (number < least) return `It cannot be less than ${least}.`
  return number > most ? `It cannot be more than ${most.toLocaleString('en-US')}.` : null
}

/** When the agent would be woken by what the form says. What cannot be read counts as the standard. */
export function wakingIn(values: FormValues): Waking {
  const { heartbeat } = jsonIn(ownBodyOf(values, null).body.runtimeConfig)
  return wakingOf({ heartbeat })
}

/** When an agent with these settings is woken. */
export function wakingOf(runtimeConfig: unknown): Waking {
  const is = (name: keyof typeof SWITCHES) => at(jsonIn(runtimeConfig), SWITCHES[name].path) !== false
  const seconds = (path: string) => {
    const value = at(jsonIn(runtimeConfig), path)
    return typeof value === 'number' ? value : null
  }
  return {
    enabled: is('$enabled'),
    intervalSec: seconds('heartbeat.intervalSec'),
    wakeOnAssignment: is('$onAssignment'),
    wakeOnOnDemand: is('$onDemand'),
    wakeOnAutomation: is('$onAutomation'),
    cooldownSec: seconds('heartbeat.cooldownSec') ?? 0,
  }
}

/** The field of the form that shows a field of the API; null: none does. */
export function ownFieldOf(field: string): string | null {
  const direct: Record<string, string> = {
    id: '$slug',
    name: '$name',
    maxConcurrentTasks: '$tasks',
    taskTypes: '$types',
    capabilities: '$capabilities',
    'runtimeConfig.fallbackModels': '$models',
  }
  const name = field.replace(/\[\d+\]|\.\d+$/g, '')
  if (direct[name]) return direct[name]
  const all = { ...SPANS, ...COUNTS, ...SWITCHES, ...TEXTS }
  const path = name.replace(/^runtimeConfig\./, '')
  return Object.entries(all).find(([, one]) => one.path === path)?.[0] ?? null
}
