import { TEMPLATE_NAMES, type TemplateName } from './tabs.ts'
import { TEMPLATES } from './templates.ts'

/** Agents to begin with: each fills in what it is for, and what suits that. */
export function TemplateChoice(props: {
  value: TemplateName | null
  onChoose: (name: TemplateName) => void
}) {
  const { value, onChoose } = props
  return (
    <section aria-label="Templates" className="flex flex-col gap-1.5">
      <h2 className="text-row font-medium">Begin with</h2>
      <div className="grid gap-2 sm:grid-cols-4">
        {TEMPLATE_NAMES.map((name) => {
          const { words, text } = TEMPLATES[name]
          return (
            <button
              aria-pressed={name === value}
              className={`touchable flex min-w-0 flex-col rounded-card border bg-bg px-3 py-2 text-left hover:border-muted ${name === value ? 'border-ink bg-raised' : 'border-line'}`}
              key={name}
              onClick={() => onChoose(name)}
              type="button"
            >
              <span className="text-row font-medium">{words}</span>
              <span className="text-label text-muted">{text}</span>
            </button>
          )
        })}
      </div>
    </section>
  )
}
