import { z } from 'zod'
import { endpoint } from '../../../pure/endpoint.ts'
import { listOf, ShortText, Slug, Text } from '../../../pure/shapes.ts'
import { LONGEST_TEMPLATE_BYTES } from '../prompts/template.ts'
import { PromptVariableView, TemplatePreview } from '../shapes/prompts.ts'

/** The variables of prompt templates, and a preview for authors of templates. */

const tag = 'prompts'
const PreviewBody = z.strictObject({
  promptTemplate: z.string().max(LONGEST_TEMPLATE_BYTES),
  agent: Slug.optional().describe('The agent whose name, title and role stand in it'),
  newAgent: z
    .strictObject({ slug: ShortText.optional(), title: ShortText.optional(), role: Text.optional() })
    .optional()
    .describe('Instead of agent: one that is not made yet'),
})

export const listPromptVariables = endpoint({
  method: 'GET',
  path: '/prompts/variables',
  summary: 'List the variables of prompt templates',
  tag,
  needs: 'read',
  answer: listOf(PromptVariableView),
})

export const previewTemplate = endpoint({
  method: 'POST',
  path: '/prompts/preview',
  summary: 'Preview a prompt template with example values, or list its problems',
  tag,
  needs: 'read',
  body: PreviewBody,
  answer: TemplatePreview,
})
