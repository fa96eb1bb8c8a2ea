import { z } from 'zod'
import type { Verdict } from './verdict.ts'

/** The check that needs no judge: a result that is not empty and has the shape its plan demands. */
export function autoVerdict(result: unknown, outputSchema: Record<string, unknown> | null): Verdict {
  const uncheckable = outputSchema && whyUncheckable(outputSchema)
  if (uncheckable) return { verdict: 'unsure', score: 0, feedback: uncheckable, evidence: [] }
  const problems = isEmpty(result) ? ['The result is empty.'] : problemsOf(result, outputSchema)
  return problems.length === 0
    ? { verdict: 'pass', score: 1, feedback: '', evidence: [] }
    : { verdict: 'fail', score: 0, feedback: problems.join(' '), evidence: [] }
}

function isEmpty(result: unknown): boolean {
  if (result === null || result === undefined) return true
  if (typeof result === 'string') return result.trim() === ''
  return typeof result === 'object' && Object.keys(result).length === 0
}

function problemsOf(result: unknown, outputSchema: Record<string, unknown> | null): string[] {
  if (outputSchema === null) return []
  const read = checkerOf(outputSchema).safeParse(result)
  if (read.success) return []
  return read.error.issues.map(({ path, message }) => `${['result', ...path].join('.')}: ${message}.`)
}

const checkerOf = (schema: Record<string, unknown>) =>
  z.fromJSONSchema(withRequiredFields(schema) as Parameters<typeof z.fromJSONSchema>[0])

/** Parts of a schema that are values, not schemas. */
const VALUES = new Set(['enum', 'const', 'default', 'examples'])

/** zod demands only those fields that are described: each field that is required gets a description that allows anything. */
function withRequiredFields(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withRequiredFields)
  if (typeof schema !== 'object' || schema === null) return schema
  const parts: Record<string, unknown> = Object.fromEntries(
    Object.entries(schema).map(([name, part]) => [name, VALUES.has(name) ? part : withRequiredFields(part)]),
  )
  const { type, required, properties } = parts
  if (![type].flat().includes('object') || !Array.isArray(required)) return parts
  const demanded = Object.fromEntries(required.map((name) => [name, {}]))
  return { ...parts, properties: { ...demanded, ...(properties as object | undefined) } }
}

/** Why results cannot be checked against this schema, as a sentence; null when they can. */
export function whyUncheckable(schema: Record<string, unknown>): string | null {
  try {
    checkerOf(schema)
    return null
  } catch (error) {
    return `${error instanceof Error ? error.message : String(error)}.`
  }
}
