import { plainJson } from './answers.ts'

/** The limit of what an agent keeps between its runs, in bytes of JSON: it becomes an environment variable. */
export const MOST_STATE_BYTES = 32 * 1024

/** An object within the limit, as it can be stored; null: it is neither. */
export function agentStateIn(value: unknown): Record<string, unknown> | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
  const plain = plainJson(value) as Record<string, unknown>
  return bytesIn(JSON.stringify(plain)) <= MOST_STATE_BYTES ? plain : null
}

const bytesIn = (text: string) => new TextEncoder().encode(text).length
