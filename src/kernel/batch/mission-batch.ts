import type { MissionTypes } from '../../kinds/mission/kind.ts'
import { type MissionRecord, NO_COUNTS } from '../../kinds/mission/record.ts'
import { MissionDeltas, withDelta } from '../../kinds/mission/rules/counts.ts'
import { afterCounting } from '../../kinds/mission/rules/decide.ts'
import { gateOf, type SeenGate, type SeenMission } from '../../kinds/mission/rules/gate.ts'
import type { Effects, TaskRecord } from '../../kinds/task/record.ts'
import { isHeld } from '../../pure/states.ts'
import type { KindBatch } from './kind-batch.ts'
import type { MissionChanges, View } from './requests.ts'

/** The missions of a batch: what its tasks change in their counts, and what follows from that for those that are locked. */
export class MissionBatch {
  readonly #view: View
  readonly #records: KindBatch<MissionTypes>
  readonly #effects: Effects
  readonly #deltas = new MissionDeltas()
  /** By mission and purpose. */
  readonly #claimedFrom = new Map<string, MissionChanges['claimedFrom'][number]>()

  /** By mission and version. */
  readonly #plans = new Map<string, MissionChanges['plans'][number]>()

  constructor(view: View, records: KindBatch<MissionTypes>, effects: Effects) {
    this.#view = view
    this.#records = records
    this.#effects = effects
    records.followedBy({
      current: (record) => ({ ...record, counts: this.#countsOf(record) }),
      decided: (record) => this.#keepPlan(record),
    })
  }

  /** A task was created (`before` is null) or changed. */
  count(before: TaskRecord | null, after: TaskRecord): void {
    if (after.missionId === null) return
    this.#deltas.count(before, after)
    if (!before || after.generation === before.generation) return
    const { missionId, purpose } = after
    this.#claimedFrom.set(`${missionId}/${purpose}`, { missionId, purpose })
  }

  /** A mission was created or changed: perhaps it has a newer plan. */
  #keepPlan({ id: missionId, uuid, plan }: MissionRecord): void {
    if (plan?.body != null) this.#plans.set(`${missionId}/${plan.version}`, { missionId, uuid, plan })
  }

  /** What was read, with the changes of this batch. */
  #countsOf({ id, uuid }: MissionRecord) {
    const read = this.#records.seen(uuid)?.record.counts ?? NO_COUNTS
    return withDelta(read, this.#deltas.byMission.get(id))
  }

  /** A mission as claims see it: locked in this batch, or read without a lock. */
  gate = (missionId: number): SeenGate | undefined => {
    const locked = this.#locked(missionId)
    if (locked) return gateOf(locked, this.#countsOf(locked))
    const seen = this.#view.gates.get(missionId)
    const delta = this.#deltas.byMission.get(missionId)
    if (!seen || !delta) return seen
    let held = seen.held
    for (const [state, change] of delta.byState) if (isHeld(state)) held += change
    return { ...seen, held }
  }

  /** The same without counting who holds its tasks: creation asks for each of thousands of tasks. */
  progress = (missionId: number): SeenMission | undefined =>
    this.#locked(missionId) ?? this.#view.gates.get(missionId)

  /** How many tasks agents have added to a mission that is locked. */
  children = (missionId: number): number => {
    const locked = this.#locked(missionId)
    return locked ? this.#countsOf(locked).children : 0
  }

  #locked(missionId: number): MissionRecord | undefined {
    for (const record of this.#records.changed.values()) if (record?.id === missionId) return record
    for (const { record } of this.#records.allSeen()) if (record.id === missionId) return record
    return undefined
  }

  /** At the end of the batch: a mission whose tasks have all ended ends, and one that has open tasks again is open again. */
  settle(): void {
    const { now } = this.#view
    for (const missionId of this.#deltas.byMission.keys()) {
      const record = this.#locked(missionId)
      if (!record) continue
      const decision = afterCounting(record, this.#countsOf(record), { now, actor: 'system' })
      if (decision.events.length === 0) continue
      this.#records.set(record.uuid, decision.record)
      this.#effects.events.push(...decision.events)
    }
  }

  get changes(): MissionChanges {
    return {
      deltas: this.#deltas.byMission,
      claimedFrom: [...this.#claimedFrom.values()],
      plans: [...this.#plans.values()],
    }
  }
}
