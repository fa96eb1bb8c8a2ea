import { useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { draftOf } from '../../parts/drafts.ts'
import { Loading } from '../../parts/loaded.tsx'
import { ProblemBox } from '../../parts/problem.tsx'
import { Select } from '../../parts/select.tsx'
import { useSession } from '../../requests/session.ts'
import { PlanVersion, usePlan } from '../../things/mission/plan-version.tsx'
import type { Mission } from '../../things/mission/progress.tsx'
import { type PlanEdit, planEditName } from './plan-draft.ts'
import { PlanEditor } from './plan-editor.tsx'
import { usePlanVersions } from './use-mission.ts'

type Listed = NonNullable<ReturnType<typeof usePlanVersions>['data']>['items'][number]

interface Shown {
  version?: number | undefined
  since?: number | undefined
}

const standing = ({ isApproved, isRejected }: Listed) =>
  isApproved ? ', approved' : isRejected ? ', rejected' : ''

/** The plan of a mission: which version, compared with which other, and its fields while it can be edited. */
export function PlanView(props: { mission: Mission; shown: Shown; onShow: (shown: Shown) => void }) {
  const { mission, shown, onShow } = props
  const { data, error, refetch } = usePlanVersions(mission.id)
  const { whyNot } = useSession()
  // What was edited and left is open again.
  const [edited, setEdited] = useState(() => draftOf<PlanEdit>(planEditName(mission.id))?.version ?? null)
  if (mission.planVersion === null)
    return <p className="text-muted">There is no plan yet. The planner makes one, or a person does.</p>
  if (edited !== null)
    return (
      <Editing
        edited={edited}
        missionId={mission.id}
        newest={mission.planVersion}
        onClose={() => {
          setEdited(null)
          onShow({})
        }}
      />
    )
  const { planVersion, approvedVersion } = mission
  const version = shown.version ?? planVersion
  const usual = approvedVersion !== null && approvedVersion !== version ? approvedVersion : null
  const since = shown.since === undefined ? usual : shown.since === 0 ? null : shown.since
  const versions = data?.items ?? []
  const isNewest = version === planVersion
  const refusal = whyNot('operate')
  return (
    <div className="flex flex-col gap-3">
      {error && !data && <ProblemBox error={error} onRetry={() => void refetch()} />}
      <div className="flex flex-wrap items-center gap-2">
        {versions.length > 1 && (
          <Versions onShow={onShow} since={since} version={version} versions={versions} />
        )}
        {isNewest && mission.state === 'awaiting_approval' && (
          <Button disabledReason={refusal} icon="edit" onClick={() => setEdited(version)} size="small">
            Edit the plan
          </Button>
        )}
      </div>
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
function Editing(props: { missionId: string; edited: number; newest: number; onClose: () => void }) {
  const { missionId, edited, newest, onClose } = props
  const read = usePlan(missionId, edited, null)
  const { data } = read
  if (!data) return <Loading read={read} rows={5} />
  return (
    <PlanEditor
      missionId={missionId}
      newer={newest > edited ? newest : null}
      onClose={onClose}
      plan={data.plan}
      version={edited}
    />
  )
}
