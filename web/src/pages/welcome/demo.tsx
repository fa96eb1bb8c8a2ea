import { type Ref, useEffect, useRef, useState } from 'react'
import { isHeld, type TaskState } from '../../../../src/pure/states.ts'
import { PageLink, useGo } from '../../links.tsx'
import type { LiveEvent } from '../../live/card.ts'
import { useLive } from '../../live/provider.tsx'
import { Button } from '../../parts/button.tsx'
import { StateChip } from '../../parts/state-chip.tsx'
import { api } from '../../requests/api.ts'
import type { Onboarding } from '../../things/agent/onboarding.ts'
import { useAct } from '../../things/use-act.ts'

const boardOf = (missionId: string) => `/board?mission=${missionId}`

/** Starts the demonstration and opens the board when its first task moves. */
export function Demo(props: { demo: Onboarding['demo']; actRef: Ref<HTMLButtonElement> | undefined }) {
  const { demo, actRef } = props
  const go = useGo()
  const [started, setStarted] = useState<string | null>(null)
  const moved = useMovedMissions()
  useEffect(() => {
    if (started !== null) return moved.when(started, () => go(boardOf(started)))
  }, [started, moved, go])
  const start = useAct(
    () => api().post('/demo'),
    ({ missionId }) => void setStarted(missionId),
  )
  const isStarting = start.isBusy || started !== null
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
      <Button
        busy={isStarting}
        disabledReason={start.whyNot}
        icon="play"
        kind="primary"
        onClick={() => start.run()}
        ref={actRef}
        {...(actRef ? { shortcut: 'Enter' } : {})}
      >
        Run the demo mission
      </Button>
      <p aria-live="polite" className="text-row text-muted">
        {isStarting
          ? 'Starting. The board opens when the first task moves.'
          : '12 simulated tasks, one failure, one approval. No model, no cost.'}
      </p>
      {started !== null && (
        <PageLink className="text-row font-medium text-accent hover:underline" to={boardOf(started)}>
          Open the board now
        </PageLink>
      )}
      {demo && started === null && (
        <span className="flex items-center gap-2 text-row text-muted">
          The last one:
          <StateChip state={demo.state} />
          <PageLink className="font-medium text-accent hover:underline" to={boardOf(demo.missionId)}>
            See its board
          </PageLink>
        </span>
      )}
    </div>
  )
}

/** Missions of which a task moved since this was shown: the event of the first move may arrive before the answer to the start. */
class MovedMissions {
  readonly #moved = new Set<string>()
  #waiting: { missionId: string; run: () => void } | null = null

  event({ entityType, missionId, to }: LiveEvent): void {
    if (missionId === null || to === null || entityType !== 'task') return
    if (isHeld(to as TaskState)) this.#moved.add(missionId)
  }

  flush(): void {
    if (!this.#waiting || !this.#moved.has(this.#waiting.missionId)) return
    const { run } = this.#waiting
    this.#waiting = null
    run()
  }

  /** Returns a function that ends the wait. */
  when(missionId: string, run: () => void): () => void {
    this.#waiting = { missionId, run }
    this.flush()
    return () => {
      this.#waiting = null
    }
  }
}

function useMovedMissions(): MovedMissions {
  const live = useLive()
  const { current: moved } = useRef(new MovedMissions())
  useEffect(
    () =>
      live.follow({
        event: (event) => moved.event(event),
        flush: () => moved.flush(),
        resync: () => undefined,
      }),
    [live, moved],
  )
  return moved
}
