import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { previewTemplate } from '../../core/prompts/render.ts'
import { LONGEST_TEMPLATE_BYTES, parseTemplate } from '../../core/prompts/template.ts'
import { PROMPT_VARIABLES } from '../../core/prompts/variables.ts'
import { type AnswerOf, type ListAnswer, listOf } from '../../core/shapes/common.ts'
import { PromptVariableView, TemplatePreview } from '../../core/shapes/prompts.ts'
import { route } from '../schema.ts'

/** The variables of prompt templates, and a preview for authors of templates. */

const tag = 'prompts'
const PreviewBody = z.strictObject({ promptTemplate: z.string().max(LONGEST_TEMPLATE_BYTES) })

export function promptRoutes(app: FastifyInstance): void {
  app.get(
    '/prompts/variables',
    route({
      summary: 'List the variables of prompt templates',
      tag,
      needs: 'read',
      answer: listOf(PromptVariableView),
    }),
    async (): Promise<ListAnswer<AnswerOf<typeof PromptVariableView>>> => ({
      items: PROMPT_VARIABLES,
      nextCursor: null,
    }),
  )
  app.post<{ Body: z.output<typeof PreviewBody> }>(
    '/prompts/preview',
    route({
      summary: 'Preview a prompt template with example values, or list its problems',
      tag,
      needs: 'read',
      body: PreviewBody,
      answer: TemplatePreview,
    }),
    async ({ body }): Promise<AnswerOf<typeof TemplatePreview>> => {
      const parsed = parseTemplate(body.promptTemplate)
      if (!parsed.ok) return { ok: false, problems: parsed.problems, prompt: null, sensitive: [] }
      const examples = Object.fromEntries(PROMPT_VARIABLES.map(({ path, example }) => [path, example]))
      const { sensitiveUses } = parsed.template
      return {
        ok: true,
        problems: [],
        prompt: previewTemplate(parsed.template, examples),
        sensitive: sensitiveUses,
      }
    },
  )
}
