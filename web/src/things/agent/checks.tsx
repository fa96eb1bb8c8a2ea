import { Icon } from '../../parts/icon.tsx'
import { TextWithCommands } from '../../parts/text-with-commands.tsx'
import { type Check, checkDetail, checkName, type Probe } from './check-words.ts'

const LOOKS = {
  passed: { icon: 'check', look: 'text-done', words: 'Passed: ' },
  failed: { icon: 'warning', look: 'text-bad', words: 'Failed: ' },
  unknown: { icon: 'help', look: 'text-muted', words: 'Not known: ' },
} as const

const outcomeOf = ({ ok, isUnknown }: Check) => (isUnknown ? 'unknown' : ok ? 'passed' : 'failed')

/** What a test found: what passed side by side, and a line for each check that needs attention. */
export function Checks({ probe }: { probe: Pick<Probe, 'checks'> }) {
  return (
    <ul aria-label="Checks" aria-live="polite" className="flex flex-wrap gap-x-5 gap-y-1.5 text-row">
      {probe.checks.map((check) => {
        const { name, hint } = check
        const { icon, look, words } = LOOKS[outcomeOf(check)]
        return (
          <li className={`flex min-w-0 gap-1.5 ${hint ? 'w-full' : ''}`} key={name}>
            <Icon className={`mt-0.5 ${look}`} name={icon} size={14} />
            <span className="min-w-0 break-words">
              <span className="sr-only">{words}</span>
              <span className="font-medium">{checkName(name)}</span>{' '}
              <span className="text-muted">{checkDetail(check)}</span>
              {hint && (
                <>
                  {' '}
                  <TextWithCommands text={hint} wraps />
                </>
              )}
            </span>
          </li>
        )
      })}
    </ul>
  )
}
