import { type TemplateVariable, wordsOf } from '../../forms/template-tags.ts'

interface VariableGroup {
  subject: string
  members: { variable: TemplateVariable; words: string }[]
}

/** A heading for one button each would be more headings than buttons. */
const FEWEST = 2
const OTHERS = 'More'

const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

/** Variables by subject, those of tasks first. Aliases are left out. */
export function variableGroups(variables: readonly TemplateVariable[]): VariableGroup[] {
  const bySubject = new Map<string, TemplateVariable[]>()
  for (const variable of variables.filter(({ aliasOf }) => aliasOf === undefined)) {
    const subject = variable.path.split('.')[0]!
    bySubject.set(subject, [...(bySubject.get(subject) ?? []), variable])
  }
  const all = [...bySubject].sort(([, a], [, b]) => b.length - a.length)
  const groups = all
    .filter(([, members]) => members.length >= FEWEST)
    .map(([subject, members]) => ({
      subject: capitalized(subject),
      members: members.map((variable) => ({
        variable,
        words: wordsOf(variable.path.slice(subject.length + 1)),
      })),
    }))
  const single = all
    .filter(([, members]) => members.length < FEWEST)
    .flatMap(([, members]) => members.map((variable) => ({ variable, words: wordsOf(variable.path) })))
  return single.length === 0 ? groups : [...groups, { subject: OTHERS, members: single }]
}
