import { z } from 'zod'

export const PromptVariableView = z.object({
  path: z.string(),
  description: z.string(),
  sensitive: z.boolean().describe('Left out of previews'),
  example: z.string(),
  aliasOf: z.string().optional(),
})

/** An offset in characters from 0; line and column from 1. */
const position = { position: z.int(), line: z.int(), column: z.int() }

export const TemplatePreview = z.object({
  ok: z.boolean(),
  problems: z.array(z.object({ message: z.string(), ...position })),
  prompt: z.string().nullable(),
  sensitive: z
    .array(z.object({ path: z.string(), ...position }))
    .describe('Where the template uses sensitive values'),
})

export const PromptPreview = z.object({
  agent: z.string(),
  prompt: z.string(),
  sensitive: z.array(z.string()).describe('The sensitive variables that the template uses'),
})
