import { actsOf } from '../../../door/door.ts'
import * as api from '../api/prompts.ts'
import { previewTemplate } from '../prompts/render.ts'
import { parseTemplate } from '../prompts/template.ts'
import { PROMPT_VARIABLES } from '../prompts/variables.ts'

/** The variables of prompt templates, and a preview for authors of templates. */

export const promptActs = actsOf(api)({
  listPromptVariables: () => ({ items: PROMPT_VARIABLES, nextCursor: null }),
  previewTemplate: (_door, { body }) => {
    const parsed = parseTemplate(body.promptTemplate)
    if (!parsed.ok) return { ok: false, problems: parsed.problems, prompt: null, sensitive: [] }
    const examples = Object.fromEntries(PROMPT_VARIABLES.map(({ path, example }) => [path, example]))
    const prompt = previewTemplate(parsed.template, examples)
    return { ok: true, problems: [], prompt, sensitive: parsed.template.sensitiveUses }
  },
})
