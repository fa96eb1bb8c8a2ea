import type { AgentRead } from './use-agent.ts'

/** The fields of an agent that the forms change. */
export type Saved = Pick<
  AgentRead,
  'name' | 'maxConcurrentTasks' | 'taskTypes' | 'capabilities' | 'runtimeConfig' | 'adapterConfig' | 'version'
>

type Settings = Record<string, unknown>

/** In one order, so that equal settings are equal texts. */
const ordered = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(ordered)
    : typeof value === 'object' && value !== null
      ? Object.fromEntries(
          Object.entries(value)
            .sort(([a], [b]) => (a < b ? -1 : 1))
            .map(([name, one]) => [name, ordered(one)]),
        )
      : value

/** The settings as a text to compare. */
export const settingsText = ({
  name,
  maxConcurrentTasks,
  taskTypes,
  capabilities,
  runtimeConfig,
  adapterConfig,
}: Omit<Saved, 'version'>) =>
  JSON.stringify(
    ordered({
      ...{ name, maxConcurrentTasks },
      ...(taskTypes.length > 0 && { taskTypes: taskTypes.toSorted() }),
      ...(capabilities.length > 0 && { capabilities: capabilities.toSorted() }),
      ...(Object.keys(runtimeConfig ?? {}).length > 0 && { runtimeConfig }),
      adapterConfig: adapterConfig ?? {},
    }),
    null,
    2,
  )

/**
 * Whether somebody else changed the settings since the form was filled. An agent has a new version after each act on it, so the version
 * alone does not show it.
 */
export const isChangedElsewhere = (filledFrom: Saved, now: Saved) =>
  now.version > filledFrom.version && settingsText(filledFrom) !== settingsText(now)

/** The prompt belongs to the settings, but not to their form. */
export function withPromptOf(config: Settings, { adapterConfig }: Pick<Saved, 'adapterConfig'>): Settings {
  const { promptTemplate } = (adapterConfig ?? {}) as { promptTemplate?: unknown }
  return promptTemplate === undefined ? config : { ...config, promptTemplate }
}

/** Lines end as the editor ends them, so that places which the server names are places in it. */
export const promptOf = ({ adapterConfig }: Pick<Saved, 'adapterConfig'>) =>
  typeof adapterConfig?.promptTemplate === 'string'
    ? adapterConfig.promptTemplate.replace(/\r\n?/g, '\n')
    : ''

/** What an edited prompt was written from. */
export interface PromptBase {
  text: string
  version: number
}

/**
 * What the agent as it is read now means for a prompt that is edited: nothing, a newer prompt that was not edited here, or one
 * beside mine. An agent of an older version than the base was read before what was saved here.
 */
export function promptMeets(base: PromptBase, now: Saved, text: string): 'same' | 'newer' | 'conflict' {
  const saved = promptOf(now)
  if (now.version <= base.version || saved === base.text) return 'same'
  return text === base.text || text === saved ? 'newer' : 'conflict'
}
