import { useParams, useSearch } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { useShortcuts } from '../../keys/shortcuts.ts'
import { PageLink, useGo } from '../../links.tsx'
import { Button } from '../../parts/button.tsx'
import { Chip } from '../../parts/chip.tsx'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { IconButton } from '../../parts/icon-button.tsx'
import { Loading } from '../../parts/loaded.tsx'
import { Menu } from '../../parts/menu.tsx'
import { Page } from '../../parts/page.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { useSession } from '../../requests/session.ts'
import { writeSearch } from '../../search-params.ts'
import { PlanTable } from '../../things/mission/plan-table.tsx'
import { tasksOf } from '../../things/mission/written-plan.ts'
import { driftWords } from './drift-words.ts'
import { MissionsOfRoutine } from './missions-of-routine.tsx'
import { RoutineSettings } from './routine-settings.tsx'
import { RunNow } from './run-now.tsx'
import { NextTimes } from './schedule-text.tsx'
import { scheduleWords } from './schedule-words.ts'
import { ROUTINE_TABS, type RoutineTab } from './tabs.ts'
import { usePause, useRemove } from './use-routine-acts.ts'
import { type Routine as RoutineRead, useRoutine } from './use-routines.ts'

const WORDS: Record<RoutineTab, string> = { missions: 'Missions', settings: 'Settings', plan: 'Plan' }

export function Routine() {
  const { id } = useParams({ from: '/routines/$id' })
  const { tab = 'missions' } = useSearch({ from: '/routines/$id' })
  const go = useGo()
  const read = useRoutine(id)
  const { data: routine } = read
  const show = (next: RoutineTab) =>
    go(`/routines/${id}${writeSearch({ tab: next === 'missions' ? undefined : next })}`, { replace: true })
  useShortcuts('Routine', {
    v: {
      words: 'Next view',
      run: () => show(ROUTINE_TABS[(ROUTINE_TABS.indexOf(tab) + 1) % ROUTINE_TABS.length]!),
    },
  })
  if (!routine)
    return (
      <Page title="Routine">
        <Loading read={read} rows={8} />
      </Page>
    )
  return (
    <Page
      actions={<RoutineActs routine={routine} />}
      heading={
        <span className="flex min-w-0 flex-wrap items-center gap-2">
          <span className="min-w-0 break-words">{routine.name}</span>
          {routine.isDeleted ? (
            <Chip hue="bad">Deleted</Chip>
          ) : (
            routine.schedule && !routine.enabled && <Chip hue="held">Paused</Chip>
          )}
        </span>
      }
      isFull
      text={<About routine={routine} />}
      title={routine.name}
    >
      <Tabs
        className="flex min-h-0 flex-1 flex-col [&>[role=tablist]]:px-3 [&>[role=tablist]]:max-sm:px-1 [&>[role=tabpanel]]:flex [&>[role=tabpanel]]:min-h-0 [&>[role=tabpanel]]:flex-1 [&>[role=tabpanel]]:flex-col"
        label="Parts of the routine"
        onChange={show}
        tabs={ROUTINE_TABS.map((name) => ({ name, words: WORDS[name] }))}
        value={tab}
      >
        {shown(tab, routine)}
      </Tabs>
    </Page>
  )
}

function shown(tab: RoutineTab, routine: RoutineRead): ReactNode {
  if (tab === 'missions') return <MissionsOfRoutine routine={routine} />
  if (tab === 'settings') return <RoutineSettings key={routine.id} routine={routine} />
  return (
    <div className="min-h-0 flex-1 overflow-y-auto px-6 pt-4 pb-12 max-sm:px-4">
      <PlanTable tasks={tasksOf(routine.plan)} />
    </div>
  )
}

/** When it runs, whether something waits, how its missions differ from the one it was made from. */
function About({ routine }: { routine: RoutineRead }) {
  const { schedule, enabled, nextTimes = [], waitingFor, skippedInRow, originMissionId, drift } = routine
  return (
    <div className="flex flex-col gap-0.5">
      <p className="break-words">
        {schedule === null
          ? 'Runs only when you run it'
          : scheduleWords(schedule).replace(/^./, (one) => one.toUpperCase())}
        {schedule && !enabled && '. Paused: it starts no missions by its schedule'}.
        {schedule && nextTimes.length > 0 && (
          <>
            {' '}
            Next: <NextTimes timeZone={schedule.timeZone} times={nextTimes} />.
          </>
        )}
      </p>
      {waitingFor.length > 0 && (
        <p className="text-held">
          {waitingFor.length === 1 ? 'One mission waits' : `${waitingFor.length} missions wait`} until the one
          before has ended.
        </p>
      )}
      {skippedInRow > 0 && (
        <p className="text-ask">
          {skippedInRow === 1 ? 'The last time was skipped' : `The last ${skippedInRow} times were skipped`}:
          the mission before had not ended.
        </p>
      )}
      {originMissionId !== null && (
        <p>
          Made from{' '}
          <PageLink className="underline hover:text-accent" to={`/missions/${originMissionId}`}>
            a mission
          </PageLink>
          {drift ? `. ${driftWords(drift)}` : '.'}
        </p>
      )}
    </div>
  )
}

function RoutineActs({ routine }: { routine: RoutineRead }) {
  const { whyNot } = useSession()
  const [isRunAsked, setRunAsked] = useState(false)
  const [isDeleteAsked, setDeleteAsked] = useState(false)
  const { pauseOrResume, isPausing, whyNotPause } = usePause()
  const remove = useRemove()
  const { id, name, enabled, isDeleted } = routine
  const gone = isDeleted ? 'It was deleted.' : null
  const forbidden = gone ?? whyNot('operate')
  const whyNotToggle = gone ?? whyNotPause(routine)
  useShortcuts('Routine', {
    e: { words: 'Run the routine now', run: () => setRunAsked(true), isOff: forbidden !== null },
    p: {
      words: enabled ? 'Pause its schedule' : 'Resume its schedule',
      run: () => pauseOrResume(routine),
      isOff: whyNotToggle !== null,
    },
  })
  return (
    <>
      <Button
        disabledReason={forbidden}
        icon="play"
        kind="primary"
        onClick={() => setRunAsked(true)}
        shortcut="e"
        size="small"
      >
        Run now
      </Button>
      <Button
        busy={isPausing(id)}
        disabledReason={whyNotToggle}
        icon={enabled ? 'pause' : 'play'}
        onClick={() => pauseOrResume(routine)}
        shortcut="p"
        size="small"
      >
        {enabled ? 'Pause' : 'Resume'}
      </Button>
      <Menu
        groups={[
          [
            {
              words: 'Delete the routine…',
              icon: 'trash',
              isDangerous: true,
              disabledReason: gone ?? remove.whyNot,
              run: () => setDeleteAsked(true),
            },
          ],
        ]}
        trigger={<IconButton icon="more" label="More actions" size="small" />}
      />
      {isRunAsked && <RunNow onClose={() => setRunAsked(false)} routine={routine} />}
      <ConfirmDialog
        busy={remove.isBusy}
        confirm="Delete the routine"
        isDangerous
        onClose={() => setDeleteAsked(false)}
        onConfirm={() => remove.run(routine)}
        open={isDeleteAsked}
        text="It starts no more missions. Those that it started stay. This cannot be undone."
        title={`Delete “${name}”?`}
      />
    </>
  )
}
