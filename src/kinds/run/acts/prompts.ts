import { actsOf } from '../../../door/door.ts'
import { requireAgent } from '../../../door/named-agents.ts'
import * as api from '../api/prompts.ts'
import { previewTemplate } from '../prompts/render.ts'
import { parseTemplate } from '../prompts/template.ts'
import { PROMPT_VARIABLES, valuesOfAgent, valuesOfNewAgent } from '../prompts/variables.ts'

/** The variables of prompt templates, and a preview for authors of templates. */

export const promptActs = actsOf(api)({
  listPromptVariables: () => ({ items: PROMPT_VARIABLES, nextCursor: null }),
  previewTemplate: async ({ kernel }, { body, caller }) => {
    const { promptTemplate, agent, newAgent } = body
    const own =
      agent !== undefined
        ? valuesOfAgent((await requireAgent(kernel, caller, agent)).record)
        : newAgent
          ? valuesOfNewAgent(newAgent)
          : {}
    const parsed = parseTemplate(promptTemplate)
    if (!parsed.ok) return { ok: false, problems: parsed.problems, prompt: null, sensitive: [] }
    const examples = Object.fromEntries(PROMPT_VARIABLES.map(({ path, example }) => [path, example]))
    const prompt = previewTemplate(parsed.template, { ...examples, ...own })
    return { ok: true, problems: [], prompt, sensitive: parsed.template.sensitiveUses }
  },
})
