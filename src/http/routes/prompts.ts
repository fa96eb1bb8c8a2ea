import type { FastifyInstance } from 'fastify'
import * as api from '../../core/api/prompts.ts'
import { previewTemplate } from '../../core/prompts/render.ts'
import { parseTemplate } from '../../core/prompts/template.ts'
import { PROMPT_VARIABLES } from '../../core/prompts/variables.ts'
import { serve } from '../endpoint.ts'

/** The variables of prompt templates, and a preview for authors of templates. */

export function promptRoutes(app: FastifyInstance): void {
  serve(app, api.listPromptVariables, async () => ({
    items: PROMPT_VARIABLES,
    nextCursor: null,
  }))
  serve(app, api.previewTemplate, async ({ body }) => {
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
  })
}
