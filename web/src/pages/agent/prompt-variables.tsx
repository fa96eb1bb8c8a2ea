import { type TemplateVariable, wordsOf } from '../../forms/template-tags.ts'
import { Icon } from '../../parts/icon.tsx'
import { variableGroups } from './variable-groups.ts'

/** All variables as buttons that insert them where the cursor is, by what they are about. */
export function PromptVariables(props: {
  heading: 'h2' | 'h3'
  variables: readonly TemplateVariable[]
  onInsert: (path: string) => void
}) {
  const { heading: Heading, variables, onInsert } = props
  return (
    <section aria-label="Variables" className="mt-3 flex flex-col gap-2 border-t border-line pt-4">
      <Heading className="text-row font-medium">Insert a variable</Heading>
      <dl className="grid grid-cols-[max-content_minmax(0,1fr)] gap-x-3 gap-y-2 max-sm:grid-cols-1 max-sm:gap-y-1">
        {variableGroups(variables).map(({ subject, members }) => (
          <div className="contents" key={subject}>
            <dt className="pt-0.5 text-label leading-5 text-muted max-sm:pt-2">{subject}</dt>
            <dd className="flex flex-wrap gap-1.5">
              {members.map(({ variable, words }) => (
                <VariableButton
                  key={variable.path}
                  onClick={() => onInsert(variable.path)}
                  variable={variable}
                  words={words}
                />
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  )
}

function VariableButton(props: { variable: TemplateVariable; words: string; onClick: () => void }) {
  const { variable, words, onClick } = props
  const { path, description, sensitive } = variable
  return (
    <button
      aria-label={`Insert ${wordsOf(path)}${sensitive ? ', sensitive' : ''}`}
      className={`touchable inline-flex h-6 items-center justify-center gap-1 rounded-chip px-1.5 text-row font-medium ${sensitive ? 'bg-ask-tint text-ask' : 'bg-go-tint text-go'} hover:underline`}
      onClick={onClick}
      title={`${path}: ${description}`}
      type="button"
    >
      {sensitive && <Icon name="warning" size={12} />}
      {words}
    </button>
  )
}
