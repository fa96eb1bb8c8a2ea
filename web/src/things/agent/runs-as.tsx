import type { RunsAs } from '../../../../src/kinds/agent/rules/allowed-on-node.ts'
import { Icon } from '../../parts/icon.tsx'

/** The user that agents run as on this node, in words, and what to do about it. */

const WORDS: Record<RunsAs, { title: string; short: string; text: string }> = {
  baton: {
    title: 'Agents run as the user of Baton',
    short: 'Runs as the user of Baton and can read its keys.',
    text: 'They can read its keys, its data and whatever else that user can read.',
  },
  root: {
    title: 'Agents run as root',
    short: 'Runs as root and can change everything on this machine.',
    text: 'Baton was started as root, so agents can read and change everything on this machine.',
  },
}

export const runsAsText = (runsAs: RunsAs) => WORDS[runsAs].short

/** Calm: it is about how Baton was started, and nothing is wrong with the agent. */
export function RunsAsNotice({ runsAs }: { runsAs: RunsAs | null | undefined }) {
  if (!runsAs) return null
  const { title, text } = WORDS[runsAs]
  return (
    <div className="flex gap-2.5 rounded-card border border-line bg-bg px-3 py-2.5 text-row" role="note">
      <Icon
        className={`mt-0.5 ${runsAs === 'root' ? 'text-bad' : 'text-ask'}`}
        name={runsAs === 'root' ? 'warning' : 'lock'}
      />
      <div className="min-w-0 break-words">
        <p className="font-medium">{title}</p>
        <p className="mt-0.5 text-muted">
          {text} Run Baton as a user of its own or in a container. <Setting name="BATON_AGENT_COMMANDS" />{' '}
          names the programs that agents may run, <Setting name="BATON_AGENT_ROOTS" /> the folders that they
          may work in. More is in docs/security.md.
        </p>
      </div>
    </div>
  )
}

const Setting = ({ name }: { name: string }) => <code className="font-mono text-label">{name}</code>
