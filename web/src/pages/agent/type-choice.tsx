import { useId } from 'react'
import { TextWithCommands } from '../../parts/text-with-commands.tsx'
import { adapterName, adapterText } from '../../things/agent/adapter-words.ts'
import type { Cli, Onboarding } from '../../things/agent/onboarding.ts'
import { verdictOn } from '../../things/agent/program-verdict.ts'

/** What an agent is: its type, with the program of that type on this machine. */
export function TypeChoice(props: {
  types: readonly string[]
  value: string
  onChange: (type: string) => void
  /** Programs of this machine; null or missing: not known. */
  programs: Onboarding['clis'] | undefined
}) {
  const { types, value, onChange, programs } = props
  const name = useId()
  const found = new Map((programs ?? []).map((program) => [program.adapterType, program]))
  const hint = found.get(value)?.hint
  return (
    <fieldset className="flex min-w-0 flex-col gap-1">
      <legend className="mb-1 text-row font-medium">Type</legend>
      <div className="grid gap-2 sm:grid-cols-2">
        {types.map((type) => (
          <label
            className="relative flex min-w-0 cursor-pointer flex-col rounded-card border border-line bg-bg px-3 py-2 hover:border-muted has-checked:border-ink has-checked:bg-raised has-focus-visible:outline-2 has-focus-visible:outline-accent"
            key={type}
          >
            <input
              aria-label={adapterName(type)}
              checked={type === value}
              className="absolute inset-0 cursor-pointer opacity-0"
              name={name}
              onChange={() => onChange(type)}
              type="radio"
              value={type}
            />
            <span className="text-row font-medium">{adapterName(type)}</span>
            <span className="text-label text-muted">{adapterText(type)}</span>
            <ProgramState program={found.get(type)} />
          </label>
        ))}
      </div>
      {hint && (
        <p className="mt-1 text-row text-ask">
          <TextWithCommands text={hint} wraps />
        </p>
      )}
    </fieldset>
  )
}

function ProgramState({ program }: { program: Cli | undefined }) {
  if (!program) return null
  const { look, words } = verdictOn(program)
  return (
    <span className={`text-label font-medium ${look === 'text-faint' ? 'text-muted' : look}`}>
      {[program.version, words].filter(Boolean).join(', ')}
    </span>
  )
}
