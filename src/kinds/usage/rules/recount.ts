import { type RecountStep, recount } from '../../task/rules/recount.ts'
import type { SourceId } from '../record.ts'

/** Totals that are kept beside the rows of the ledger. Both are written in one transaction: a difference is a fault, which is repaired and told. */

export const recountSource = (source: SourceId): RecountStep =>
  recount({ usedBy: source }, 'LEDGER_DRIFT', (wrong) => {
    const what = source.generation === 0 ? 'run' : `claim ${source.generation} of task`
    const each = wrong.map(({ name, stored, counted }) => `${name} ${stored} instead of ${counted}`)
    return `The totals of ${what} ${source.sourceId} were not those of its rows in the ledger: ${each.join(', ')}.`
  })

export const recountUsedFor = ({ missionId, uuid }: { missionId: number; uuid: string }): RecountStep =>
  recount({ usedFor: missionId }, 'MISSION_SPENDING_DRIFT', (wrong) => {
    const each = wrong.map(({ name, stored, counted }) => `${name} ${stored} instead of ${counted}`)
    return `What was used for mission ${uuid} was not what the ledger has: ${each.join(', ')}.`
  })
