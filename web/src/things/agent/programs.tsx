import type { Ref } from 'react'
import { useGo } from '../../links.tsx'
import { Button } from '../../parts/button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { TextWithCommands } from '../../parts/text-with-commands.tsx'
import type { Cli, Onboarding } from './onboarding.ts'
import { isUsable } from './onboarding.ts'
import { verdictOn } from './program-verdict.ts'
import { UseProgram } from './use-program.tsx'

/** The agent programs of this machine: found or not, logged in or not, and what to run to fix that. */
export function Programs(props: {
  clis: Onboarding['clis']
  isLooking: boolean
  onLookAgain: () => void
  /** Ref of the button that Enter presses, if it is one of these. */
  actRef?: Ref<HTMLButtonElement> | undefined
}) {
  const { clis, isLooking, onLookAgain, actRef } = props
  const go = useGo()
  if (clis === null)
    return (
      <p className="text-row text-muted">
        Seeing which programs are installed needs the right to configure agents, which admins and owners have.
      </p>
    )
  // What can be used comes first, what is missing last.
  const sorted = [...clis].sort((a, b) => rank(a) - rank(b))
  return (
    <>
      <ul className="grid gap-2 sm:grid-cols-2">
        {sorted.map((cli) => (
          <Program cli={cli} key={cli.adapterType} />
        ))}
      </ul>
      {!clis.some(({ isFound }) => isFound) && (
        <p className="text-row text-muted">
          None of these programs is installed here. A script of yours can be an agent, too.
        </p>
      )}
      <UseProgram actRef={actRef} programs={sorted.filter(isUsable)} />
      <div className="-ml-2 flex flex-wrap gap-1">
        <Button busy={isLooking} icon="retry" kind="quiet" onClick={onLookAgain} size="small">
          Check again
        </Button>
        <Button icon="agents" kind="quiet" onClick={() => go('/agents/new?template=script')} size="small">
          Make an agent from a script
        </Button>
      </div>
    </>
  )
}

const rank = (cli: Cli) => (isUsable(cli) ? 0 : cli.isFound ? 1 : 2)

function Program({ cli }: { cli: Cli }) {
  const { icon, look, words } = verdictOn(cli)
  return (
    <li className="flex min-w-0 gap-2.5 rounded-card border border-line bg-bg px-3 py-2.5">
      <Icon className={`mt-0.5 ${look}`} name={icon} />
      <div className="min-w-0 flex-1 text-row">
        <p className="break-words">
          <span className={`font-medium ${cli.isFound ? '' : 'text-muted'}`}>{cli.command}</span>
          {cli.version && <span className="ml-1.5 text-muted tabular-nums">{cli.version}</span>}
          <span className={`ml-2 ${cli.isFound ? look : 'text-muted'}`}>{words}</span>
        </p>
        {cli.hint && (
          <p className="mt-0.5 break-words text-muted">
            <TextWithCommands text={cli.hint} wraps />
          </p>
        )}
      </div>
    </li>
  )
}
