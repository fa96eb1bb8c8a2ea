import { asMaterial, hasMaterial, withMeaning } from '../../../pure/material.ts'
import type { Templated, VariablesSchema, VariableValues } from './variables.ts'

/** Values that another program gave, in the texts of a routine: an agent must not take them for what the routine says. */

/** Numbers and truth values say nothing but themselves, and the values of an enum are the routine's own words. */
export function markedValues({ properties }: VariablesSchema, values: VariableValues): VariableValues {
  const marked = Object.entries(values).map(([name, value]) => {
    const variable = properties[name]!
    const isOwn = typeof value !== 'string' || 'enum' in variable || value === variable.default
    return [name, isOwn ? value : asMaterial(value)]
  })
  return Object.fromEntries(marked)
}

/** The texts say what the brackets in them mean. */
export function explained<T extends Templated>(filled: T): T {
  const { goal, description, plan } = filled
  const explain = (text: string) => (hasMaterial(text) ? withMeaning(text) : text)
  const tasks = plan.tasks.map((task) => {
    const { title, description: said, successCriteria, systemPrompt, input } = task
    const around = [title, said, successCriteria, systemPrompt, input].some(
      (part) => part != null && hasMaterial(typeof part === 'string' ? part : JSON.stringify(part)),
    )
    return around ? { ...task, description: withMeaning(said ?? '') } : task
  })
  return {
    ...filled,
    goal: hasMaterial(filled.title) ? withMeaning(goal) : explain(goal),
    description: description === null ? null : explain(description),
    plan: { ...plan, tasks },
  }
}
