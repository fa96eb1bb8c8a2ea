import { useParams, useSearch } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { useShortcuts } from '../../keys/shortcuts.ts'
import { PageLink, useGo } from '../../links.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Loading } from '../../parts/loaded.tsx'
import { LongMarkdown } from '../../parts/long-markdown.tsx'
import { useIsPhone } from '../../parts/media.ts'
import { Moment } from '../../parts/moment.tsx'
import { Page } from '../../parts/page.tsx'
import { Segmented } from '../../parts/segmented.tsx'
import { Select } from '../../parts/select.tsx'
import { Skeleton } from '../../parts/skeleton.tsx'
import { StateChip } from '../../parts/state-chip.tsx'
import { spentText, tokensText } from '../../parts/wording.ts'
import { writeSearch } from '../../search-params.ts'
import { HUE_TEXT } from '../../theme/hues.ts'
import { type Amount, amount, amountText, figureText } from '../../things/budget/budget.ts'
import { MissionChanges } from '../../things/changes/mission-changes.tsx'
import { headline, lookOf } from '../../things/inbox/kinds.ts'
import { Progress, progressWords, type Mission as Shown } from '../../things/mission/progress.tsx'
import { StartedByRoutine } from '../../things/routine/started-by.tsx'
import { TaskBeside } from '../../things/task/beside.tsx'
import { Activity } from './activity/activity.tsx'
import { MissionActs } from './mission-acts.tsx'
import { MissionComments } from './mission-comments.tsx'
import { MissionReport } from './mission-report.tsx'
import { MissionTasks } from './mission-tasks.tsx'
import { PlanDecision } from './plan-decision.tsx'
import { PlanView } from './plan-view.tsx'
import { useMission, useWaitingOf } from './use-mission.ts'
import { MISSION_VIEW_WORDS, MISSION_VIEWS, type MissionAddress, type MissionView } from './views.ts'

// Not needed to show what happened.
const GraphView = lazy(() =>
  import('./graph/graph-view.tsx').then(({ GraphView }) => ({ default: GraphView })),
)
const TimelineView = lazy(() =>
  import('./timeline/timeline-view.tsx').then(({ TimelineView }) => ({ default: TimelineView })),
)

/** Until its plan is approved, a mission is its plan; afterwards what happens to it. */
const firstView = ({ approvedVersion, planVersion, stateType }: Shown): MissionView =>
  approvedVersion === null && planVersion !== null && stateType !== 'terminal' ? 'plan' : 'activity'

export function Mission() {
  const { id } = useParams({ from: '/missions/$id' })
  const search = useSearch({ from: '/missions/$id' })
  const go = useGo()
  const read = useMission(id)
  const { data: mission } = read
  const view = search.view ?? (mission ? firstView(mission) : 'activity')
  // The editor needs the room.
  const isEdited = view === 'plan' && search.edit === true
  const addressOf = (change: MissionAddress) => `/missions/${id}${writeSearch({ ...search, ...change })}`
  const show = (next: MissionView) => go(`/missions/${id}?view=${next}`, { replace: true })
  const closePanel = () => go(addressOf({ task: undefined }))
  useShortcuts('Mission', {
    Esc: { words: 'Close the panel', run: closePanel, isOff: !search.task },
    v: {
      words: 'Next view',
      run: () => show(MISSION_VIEWS[(MISSION_VIEWS.indexOf(view) + 1) % MISSION_VIEWS.length]!),
    },
  })
  if (!mission)
    return (
      <Page title="Mission">
        <Loading read={read} rows={8} />
      </Page>
    )
  return (
    <Page
      actions={<MissionActs mission={mission} />}
      heading={
        <span className="flex min-w-0 flex-wrap items-center gap-2">
          <span className="min-w-0 break-words">{mission.title}</span> <StateChip state={mission.state} />
        </span>
      }
      panel={search.task && <TaskBeside id={search.task} onClose={closePanel} />}
      text={<Facts mission={mission} />}
      title={mission.title}
    >
      <div className="flex flex-col gap-5">
        <Standing isShort={isEdited} mission={mission} />
        {!isEdited && <Waits id={id} />}
        <PlanDecision
          isShown={view === 'plan' && (search.version ?? mission.planVersion) === mission.planVersion}
          key={mission.planDigest}
          mission={mission}
          onShowPlan={() => show('plan')}
        />
        <Views onShow={show} view={view} />
        <Suspense fallback={<Skeleton rows={8} />}>
          <View addressOf={addressOf} mission={mission} place={search} view={view} />
        </Suspense>
      </div>
    </Page>
  )
}

/** Eight of them do not fit beside each other on a phone. */
function Views({ view, onShow }: { view: MissionView; onShow: (view: MissionView) => void }) {
  const isPhone = useIsPhone()
  const options = MISSION_VIEWS.map((value) => ({ value, words: MISSION_VIEW_WORDS[value] }))
  return (
    <div>
      {isPhone ? (
        <Select aria-label="View" onChange={onShow} options={options} value={view} />
      ) : (
        <Segmented label="View" onChange={onShow} options={options} size="usual" value={view} />
      )}
    </div>
  )
}

function View(props: {
  mission: Shown
  view: MissionView
  place: MissionAddress
  addressOf: (change: MissionAddress) => string
}) {
  const { mission, view, place, addressOf } = props
  const { id } = mission
  const go = useGo()
  switch (view) {
    case 'activity':
      return (
        <Activity
          isSimulated={mission.isSimulated}
          addressOf={(task) => addressOf({ task })}
          filter={place.what ?? 'all'}
          id={id}
          onFilter={(what) => go(addressOf({ what: what === 'all' ? undefined : what }), { replace: true })}
        />
      )
    case 'graph':
      return <GraphView addressOf={addressOf} mission={mission} place={place} />
    case 'timeline':
      return <TimelineView addressOf={addressOf} id={id} place={place} />
    case 'tasks':
      return <MissionTasks addressOf={addressOf} mission={mission} place={place} />
    case 'plan':
      return (
        <PlanView
          mission={mission}
          onShow={(plan) => go(`/missions/${id}${writeSearch({ view, ...plan })}`)}
          shown={place}
        />
      )
    case 'changes':
      return <MissionChanges hasKeys id={id} />
    case 'report':
      return <MissionReport mission={mission} />
    case 'comments':
      return <MissionComments id={id} />
  }
}

function Facts({ mission }: { mission: Shown }) {
  const { createdAt, project, config } = mission
  return (
    <span className="flex flex-wrap gap-x-3">
      <span>
        created <Moment at={createdAt} />
      </span>
      {project && <span>project {project}</span>}
      <StartedByRoutine mission={mission} />
      {config.planner?.agent && <span>planned by {config.planner.agent}</span>}
      {config.acceptance === 'human' && <span>a person accepts the outcome</span>}
    </span>
  )
}

/** Where some of its runs have no known cost: unknown is not nothing. */
const unknownCostWords = ({ costUsd, runs, unknownRuns }: Shown) =>
  costUsd === null || unknownRuns === 0 ? null : ` (unknown for ${unknownRuns} of ${runs} runs)`

/** Of its own budget: "of $40.00, $35.60 left". */
const leftWords = ({ unit, limit, left }: Amount) =>
  ` of ${amountText(unit, limit)}, ${figureText(unit, left)} left`

/** Progress of the mission, what it cost, and why it does not continue. */
function Standing({ mission, isShort }: { mission: Shown; isShort: boolean }) {
  const { title, goal, costUsd, isSimulated, tokensUsed, config, errorMessage } = mission
  const { maxUsd, maxTokens } = config.budget ?? {}
  return (
    <div className="flex flex-col gap-3">
      {!isShort && goal.trim() !== title && (
        <div className="max-w-prose">
          <LongMarkdown text={goal} />
        </div>
      )}
      <div className="flex flex-col gap-1.5">
        <Progress height={6} mission={mission} />
        <p className="text-row text-muted tabular-nums">
          {progressWords(mission)} · {spentText(costUsd, isSimulated)}
          {unknownCostWords(mission)}
          {maxUsd !== undefined && leftWords(amount('usd', costUsd ?? '0', '0', maxUsd))}
          {maxTokens !== undefined && (
            <>
              {' · '}
              {tokensText(tokensUsed)}{' '}
              {leftWords(amount('tokens', String(tokensUsed), '0', String(maxTokens)))}
            </>
          )}
        </p>
      </div>
      {errorMessage && <p className="text-body break-words text-bad">{errorMessage}</p>}
    </div>
  )
}

/** What waits for a person in this mission; plans are decided below, and how it ended stands above. */
function Waits({ id }: { id: string }) {
  const { data } = useWaitingOf(id)
  const items = data?.items.filter(({ kind }) => kind !== 'plan' && kind !== 'finished') ?? []
  if (items.length === 0) return null
  return (
    <section aria-label="Waiting for you" className="rounded-card border border-line bg-raised">
      <ul>
        {items.map((item) => (
          <li
            className="flex items-center gap-3 px-4 py-2 not-first:border-t not-first:border-line"
            key={item.id}
          >
            <Icon className={HUE_TEXT[lookOf(item).hue]} name={lookOf(item).icon} />
            <PageLink
              className="min-w-0 flex-1 truncate font-medium hover:underline"
              to={`/inbox?item=${encodeURIComponent(item.id)}`}
            >
              {headline(item)}
            </PageLink>
            <span className="shrink-0 text-row text-muted">
              <Moment at={item.since} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}
