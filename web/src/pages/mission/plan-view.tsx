import { lazy, Suspense, useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { draftOf } from '../../parts/drafts.ts'
import { Loading } from '../../parts/loaded.tsx'
import { ProblemBox } from '../../parts/problem.tsx'
import { Select } from '../../parts/select.tsx'
import { Skeleton } from '../../parts/skeleton.tsx'
import { useSession } from '../../requests/session.ts'
import type { PlanEdit } from '../../things/mission/plan-edit/plan-draft.ts'
import { PlanVersion, usePlan } from '../../things/mission/plan-version.tsx'
import type { Mission } from '../../things/mission/progress.tsx'
import { planEditName } from '../../things/mission/unsaved-edit.tsx'
import { PlanPreview } from './plan-preview.tsx'
import { usePlanVersions } from './use-mission.ts'

/** With CodeMirror and the reader of YAML, which those who only look do not need. */
const MissionPlanEditor = lazy(() =>
  import('./plan-editor.tsx').then(({ MissionPlanEditor }) => ({ default: MissionPlanEditor })),
)

type Listed = NonNullable<ReturnType<typeof usePlanVersions>['data']>['items'][number]

interface Shown {
  version?: number | undefined
  since?: number | undefined
  /** The newest version is edited. */
  edit?: boolean | undefined
}

const standing = ({ isApproved, isRejected }: Listed) =>
  isApproved ? ', approved' : isRejected ? ', rejected' : ''

/** Why a mission in this state takes no other plan; null: it takes one. */
function whyNoOtherPlan({ stateType, closedBy, planVersion }: Mission): string | null {
  if (stateType === 'terminal') return 'It has ended.'
  if (closedBy.includes('cancelling')) return 'It is being cancelled.'
  return planVersion === null ? 'It has no plan yet.' : null
}

/** The plan of a mission: which version, compared with which other, and the editor while it is edited. */
export function PlanView(props: { mission: Mission; shown: Shown; onShow: (shown: Shown) => void }) {
  const { mission, shown, onShow } = props
  const { data, error, refetch } = usePlanVersions(mission.id)
  const { whyNot } = useSession()
  const { planVersion, approvedVersion } = mission
  // What was edited and left is open again. The version it began from does not change while it is edited.
  const [begun, setBegun] = useState<number | 'closed' | null>(
    () => draftOf<PlanEdit>(planEditName(mission.id))?.version ?? null,
  )
  const isWanted = shown.edit === true && whyNoOtherPlan(mission) === null && whyNot('operate') === null
  if (isWanted && begun === null) setBegun(planVersion)
  // The address follows a moment later.
  if (begun === 'closed' && shown.edit !== true) setBegun(null)
  if (planVersion === null)
    return <p className="text-muted">There is no plan yet. The planner makes one, or a person does.</p>
  const versions = data?.items ?? []
  if (typeof begun === 'number')
    return (
      <Editing
        key={begun}
        mission={mission}
        next={versions.reduce((most, { version }) => Math.max(most, version), planVersion) + 1}
        onClose={() => {
          setBegun('closed')
          onShow({})
        }}
        onNewest={() => setBegun(planVersion)}
        version={begun}
      />
    )
  const version = shown.version ?? planVersion
  const usual = approvedVersion !== null && approvedVersion !== version ? approvedVersion : null
  const since = shown.since === undefined ? usual : shown.since === 0 ? null : shown.since
  const isNewest = version === planVersion
  return (
    <div className="flex flex-col gap-3">
      {error && !data && <ProblemBox error={error} onRetry={() => void refetch()} />}
      <div className="flex flex-wrap items-center gap-2">
        {versions.length > 1 && (
          <Versions onShow={onShow} since={since} version={version} versions={versions} />
        )}
        {/* Of a mission that runs, it is changed from the top of the page. */}
        {isNewest && approvedVersion === null && mission.stateType !== 'terminal' && (
          <Button
            disabledReason={whyNot('operate') ?? whyNoOtherPlan(mission)}
            icon="edit"
            onClick={() => onShow({ edit: true })}
            size="small"
          >
            Edit the plan
          </Button>
        )}
      </div>
      {isNewest && mission.proposedVersion !== null && <PlanPreview mission={mission} />}
      <PlanVersion missionId={mission.id} since={since} version={version} />
    </div>
  )
}

function Versions(props: {
  versions: readonly Listed[]
  version: number
  since: number | null
  onShow: (shown: Shown) => void
}) {
  const { versions, version, since, onShow } = props
  const options = versions.map((one) => ({
    value: String(one.version),
    words: `Version ${one.version}${standing(one)}`,
  }))
  return (
    <>
      <Select
        aria-label="Version"
        onChange={(next) => onShow({ version: Number(next) })}
        options={options}
        size="small"
        value={String(version)}
      />
      <span className="text-row text-muted">compared with</span>
      <Select
        aria-label="Compared with"
        onChange={(next) => onShow({ version, since: Number(next) })}
        options={[
          { value: '0', words: 'no other' },
          ...options.filter(({ value }) => value !== String(version)),
        ]}
        size="small"
        value={String(since ?? 0)}
      />
    </>
  )
}

/** The plan that is edited is read once more: what is shown leaves out what it does not need. */
function Editing(props: {
  mission: Mission
  version: number
  next: number
  onNewest: () => void
  onClose: () => void
}) {
  const { mission, version } = props
  const read = usePlan(mission.id, version, null)
  const { data } = read
  if (!data) return <Loading read={read} rows={5} />
  return (
    <Suspense fallback={<Skeleton label="The editor is loading" rows={8} />}>
      <MissionPlanEditor {...props} plan={data.plan} />
    </Suspense>
  )
}
