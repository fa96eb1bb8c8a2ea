import type { AnswerTo } from '../../../../src/client/client.ts'
import { Icon } from '../../parts/icon.tsx'
import { TextWithCommands } from '../agents/text-with-commands.tsx'

type Probe = AnswerTo<'POST', '/adapters/:type/test'>

/** What a test found: each check, and what to do about those that failed. */
export function Checks({ probe }: { probe: Probe }) {
  return (
    <ul
      aria-label="Checks"
      aria-live="polite"
      className="flex flex-col gap-1.5 rounded-card border border-line bg-raised p-3"
    >
      {probe.checks.map(({ name, ok, isUnknown, detail, hint }) => (
        <li className="flex gap-2 text-row" key={name}>
          <Icon
            className={`mt-0.5 ${isUnknown ? 'text-muted' : ok ? 'text-done' : 'text-bad'}`}
            name={isUnknown ? 'help' : ok ? 'check' : 'warning'}
            size={14}
          />
          <span className="min-w-0 break-words">
            <span className="sr-only">{isUnknown ? 'Not known: ' : ok ? 'Passed: ' : 'Failed: '}</span>
            <span className="font-medium">{name}</span> <span className="text-muted">{detail}</span>
            {hint && (
              <span className="block">
                <TextWithCommands text={hint} />
              </span>
            )}
          </span>
        </li>
      ))}
    </ul>
  )
}
