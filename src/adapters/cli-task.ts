import type { AdapterInvokeInput } from './protocol.ts'

/** What a task asks of an agent program beside its prompt: arguments where the program has flags for it. */

/** The flags of a program that has them. */
export interface TaskFlags {
  systemPrompt: string
  tools: string
}

interface TaskSettings {
  extraArgs: readonly string[]
  grantableTools?: readonly string[] | undefined
}

interface Asked {
  args: string[]
  prompt: string
  /** Tools that the settings of the agent do not let tasks have. */
  notGranted: string[]
}

/** An argument may have at most 128 kB on Linux. */
const LONGEST_ARGUMENT_BYTES = 100_000

/** A plan may come from an agent, and a tool may run any program: what a task may have is up to the agent's settings. */
export function askedOf(
  flags: TaskFlags | undefined,
  { extraArgs, grantableTools = [] }: TaskSettings,
  { prompt, systemPrompt, tools = [] }: Pick<AdapterInvokeInput, 'prompt' | 'systemPrompt' | 'tools'>,
): Asked {
  const isGranted = (tool: string) => grantableTools.includes('*') || grantableTools.includes(tool)
  const granted = flags ? tools.filter(isGranted) : []
  // One argument each, with `=`: neither a text that begins with a dash nor a list can be taken for more than it is.
  const args = flags && granted.length > 0 ? [`${flags.tools}=${granted.join(',')}`] : []
  const notGranted = tools.filter((tool) => !granted.includes(tool))
  if (!systemPrompt) return { args, prompt, notGranted }
  const fits = Buffer.byteLength(systemPrompt) <= LONGEST_ARGUMENT_BYTES && !systemPrompt.includes('\0')
  // Given twice, the flag of the agent's own settings would be replaced.
  const isFree = flags !== undefined && !extraArgs.some((arg) => arg.split('=')[0] === flags.systemPrompt)
  if (flags && fits && isFree)
    return { args: [...args, `${flags.systemPrompt}=${systemPrompt}`], prompt, notGranted }
  return { args, prompt: atItsHead(prompt, systemPrompt), notGranted }
}

/** For programs that know no system prompt. */
export const atItsHead = (prompt: string, systemPrompt: string) => `${systemPrompt}\n\n${prompt}`
