import { useState } from 'react'
import { about } from '../../live/about.ts'
import { useLive } from '../../live/provider.tsx'
import { useSnapshot } from '../../live/use-snapshot.ts'
import { Button } from '../../parts/button.tsx'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Page } from '../../parts/page.tsx'
import { countText, durationText } from '../../parts/wording.ts'
import { api } from '../../requests/api.ts'
import { useSession } from '../../requests/session.ts'
import { HUE_TEXT } from '../../theme/hues.ts'
import { useAct } from '../../things/use-act.ts'
import { NodeTable } from './node-table.tsx'
import { healthOf, lastPassOf, recoveredWords, type Status } from './node-words.ts'
import { Terms } from './terms.tsx'

/** Who coordinates, how the nodes are, and recovery on demand. */
export function Nodes() {
  const { can, whyNot } = useSession()
  const [isAsked, setIsAsked] = useState(false)
  const live = useLive()
  const read = useSnapshot(
    ['coordinator'],
    async ({ signal }) => {
      const { body, seq } = await api().read('/coordinator/status', { signal })
      // Passes write no events: what is shown is as of this moment.
      return { body: { status: body, readAt: live.now() }, seq }
    },
    { follows: about.coordinator, enabled: can('admin') },
  )
  const recover = useAct(
    () => api().post('/coordinator/recover', { body: {} }),
    ({ did, allWorkspaces }) => ({
      title: allWorkspaces ? 'Recovered in all workspaces.' : 'Recovered.',
      text: recoveredWords(did),
    }),
    { right: 'admin' },
  )
  return (
    <Page
      actions={
        <>
          <Button
            disabledReason={can('admin') ? null : whyNot('admin')}
            icon="retry"
            onClick={() => void read.refetch()}
          >
            Check again
          </Button>
          <Button
            busy={recover.isBusy}
            disabledReason={recover.whyNot}
            kind="primary"
            onClick={() => setIsAsked(true)}
          >
            Recover now
          </Button>
        </>
      }
      text="The servers on this database. One of them, the leader, coordinates all work."
      title="Nodes"
    >
      {can('admin') ? (
        <Loaded read={read} rowHeight={56} rows={5}>
          {({ status, readAt }) => <Coordinator readAt={readAt} status={status} />}
        </Loaded>
      ) : (
        <p className="rounded-card border border-line bg-raised p-4 text-row text-muted">
          Only admins see how the server is doing. {whyNot('admin')}
        </p>
      )}
      <ConfirmDialog
        confirm="Recover now"
        onClose={() => setIsAsked(false)}
        onConfirm={() => recover.run()}
        open={isAsked}
        text={`The leader does this every few seconds. Now it is done at once, ${can('instance') ? 'for all workspaces' : 'for this workspace'}: tasks that lost their holder are retried, tasks that can begin are assigned, counters are checked. Running work is not disturbed.`}
        title="Run all steps of the coordinator now?"
      />
    </Page>
  )
}

function Coordinator({ status, readAt }: { status: Status; readAt: number }) {
  const { can, whyNot } = useSession()
  const { hue, title, text } = healthOf(status, readAt)
  return (
    <div className="flex flex-col gap-4">
      <section
        aria-label="Coordinator"
        className="flex flex-col gap-3 rounded-card border border-line bg-raised p-4"
      >
        <div className="flex items-start gap-3">
          <Icon className={`mt-0.5 ${HUE_TEXT[hue]}`} name={hue === 'done' ? 'check' : 'warning'} />
          <div className="min-w-0">
            <h2 className="text-title font-semibold">{title}</h2>
            <p className="text-row text-muted">
              {text} Checked <Moment at={readAt} />.
            </p>
          </div>
        </div>
        <Facts status={status} />
      </section>
      {can('instance') ? (
        <>
          <NodeTable lastPassAt={lastPassOf(status)} nodes={status.nodes} />
          <Terms nodes={status.nodes} terms={status.terms} />
        </>
      ) : (
        <p className="rounded-card border border-line bg-raised p-4 text-row text-muted">
          Names of machines, their versions and their runs are shown to those who run the server.{' '}
          {whyNot('instance')}
        </p>
      )}
    </div>
  )
}

/** Most take some milliseconds. */
function passText(ms: number | null): string {
  if (ms === null) return 'not known'
  return ms < 100 ? `${ms < 1 ? 'less than 1' : Math.round(ms)} ms` : durationText(ms)
}

function Facts({ status }: { status: Status }) {
  const { term, thisNode, stats } = status
  const passAt = lastPassOf(status)
  const facts: [string, React.ReactNode][] = [
    ['Term', term === null ? 'none' : countText(term)],
    [
      thisNode.leads ? 'Last pass' : 'Last sign of life',
      passAt === null ? 'none yet' : <Moment at={passAt} key="at" />,
    ],
    ['Passes of this node', countText(thisNode.passes)],
    ['Last pass took', passText(thisNode.lastPassMs)],
    ['Tasks running', countText(stats.runningTasks)],
    ['Tasks queued', countText(stats.pendingTasks)],
    ['Tasks blocked', countText(stats.blockedTasks)],
    ['Agents healthy', countText(stats.healthyAgents)],
    ['Agents silent', countText(stats.staleAgents)],
  ]
  return (
    <dl className="grid grid-cols-[repeat(auto-fill,minmax(112px,1fr))] gap-x-4 gap-y-2">
      {facts.map(([words, value]) => (
        <div className="min-w-0" key={words}>
          <dt className="text-label text-muted">{words}</dt>
          <dd className="text-body font-medium tabular-nums">{value}</dd>
        </div>
      ))}
    </dl>
  )
}
