import { z } from 'zod'
import { MissionPlanShape } from './mission-fields.ts'

/** The JSON Schema of a mission's plan, small enough for a planner's prompt. It is made from the shapes of the reader. */
export function planSchema(): Record<string, unknown> {
  const { $schema: _draft, ...schema } = z.toJSONSchema(MissionPlanShape, {
    target: 'draft-7',
    io: 'input',
    unrepresentable: 'any',
    override: ({ jsonSchema }) => leaveOutNoise(jsonSchema),
  })
  return schema
}

/** Defaults that are empty and bounds that only say "a number" cost words and help nobody. */
function leaveOutNoise(schema: Record<string, unknown>): void {
  if (Array.isArray(schema.default) && schema.default.length === 0) delete schema.default
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum
}
