import {
  rangeOf,
  sensitiveUses,
  type TemplateProblem,
  type TemplateVariable,
  wordsOf,
} from '../../forms/template-tags.ts'
import { Icon } from '../../parts/icon.tsx'

/** What is wrong with a template, and what is risky in it, with the way to the place. */
export function PromptNotes(props: {
  id: string
  text: string
  variables: readonly TemplateVariable[]
  problems: readonly TemplateProblem[]
  onGoTo: (position: number) => void
}) {
  const { id, text, variables, problems, onGoTo } = props
  const risky = sensitiveUses(text, variables)
  return (
    <ul aria-label="Notes on the template" aria-live="polite" className="flex flex-col gap-1" id={id}>
      {problems.map((problem) => (
        <Note
          key={`${problem.line}:${problem.column} ${problem.message}`}
          look="text-bad"
          onClick={() => onGoTo(rangeOf(text, problem).to)}
        >
          Line {problem.line}, column {problem.column}: {problem.message}
        </Note>
      ))}
      {risky.map(({ variable, line, from }) => (
        <Note key={from} look="text-ask" onClick={() => onGoTo(from)}>
          Line {line}: {wordsOf(variable.path)} is sensitive. The model reads it and may repeat it in what it
          writes. {variable.description}.
        </Note>
      ))}
    </ul>
  )
}

function Note({ look, onClick, children }: { look: string; onClick: () => void; children: React.ReactNode }) {
  return (
    <li>
      <button
        className={`flex min-h-6 gap-1.5 rounded-chip text-left text-row hover:underline ${look}`}
        onClick={onClick}
        title="Go to the place"
        type="button"
      >
        <Icon className="mt-0.5" name="warning" size={14} />
        <span className="min-w-0 break-words">{children}</span>
      </button>
    </li>
  )
}
