import { createHash } from 'node:crypto'
import type { RunKernel } from '../../../door/server-kernel.ts'
import { freshUuid } from '../../../kernel/fresh-uuid.ts'
import { isTemplate } from '../../agent/rules/contractor.ts'
import type { NewContractor } from '../../agent/rules/contractors.ts'
import { contractorSlug, MOST_CONTRACTORS } from '../../agent/rules/contractors.ts'
import type { MissionPlan, MissionTask } from '../plan/mission-plan.ts'
import type { PlanProblem } from '../plan/problems.ts'
import type { MissionRecord } from '../record.ts'

/** Contractors: who they are, and whether they can be made. */

type Named = NonNullable<MissionTask['contractor']>

/** Tasks of a mission that name the same template and name have the same one. */
export const contractorSlugOf = (mission: string, { template, name }: Named): string =>
  contractorSlug(
    template,
    createHash('sha256')
      .update(JSON.stringify([mission, template, name ?? null]))
      .digest('hex'),
  )

/** Finds the contractor of each task of a plan: the same object for tasks that share it. */
export function contractorsOf({ id, uuid }: Pick<MissionRecord, 'id' | 'uuid'>) {
  const known = new Map<string, NewContractor>()
  return (named: MissionTask['contractor']): NewContractor | undefined => {
    if (named === null) return undefined
    const { template, name = null } = named
    const key = JSON.stringify([template, name])
    const contractor = known.get(key) ?? {
      slug: contractorSlugOf(uuid, named),
      uuid: freshUuid(),
      ...{ template, name, missionId: id, mission: uuid },
    }
    known.set(key, contractor)
    return contractor
  }
}

/** What a mission already has. */
export type Contracting = Pick<MissionRecord, 'uuid' | 'contractors'>

/** Where a plan names templates that are not there, or more contractors than a mission may have. */
export async function contractorProblems(
  kernel: RunKernel,
  workspaceId: number,
  { tasks }: MissionPlan,
  mission: Contracting | null,
): Promise<PlanProblem[]> {
  const named = [...new Set(tasks.flatMap(({ contractor }) => contractor?.template ?? []))]
  if (named.length === 0) return []
  const listed = await kernel.store.agents.list(workspaceId, { slugs: named }, named.length)
  const templates = new Set(
    listed.filter(({ record }) => isTemplate(record)).map(({ record }) => record.slug),
  )
  const contractors = new Set(mission?.contractors)
  return tasks.flatMap(({ contractor }, place) => {
    if (contractor === null) return []
    // Before the mission exists, any id will do.
    const slug = contractorSlugOf(mission?.uuid ?? '', contractor)
    // An existing one stays, whatever has happened to its template.
    if (contractors.has(slug)) return []
    const { template } = contractor
    if (!templates.has(template))
      return problemAt(place, 'contractor.template', `is "${template}", which is no agent of this workspace`)
    contractors.add(slug)
    return contractors.size > MOST_CONTRACTORS
      ? problemAt(
          place,
          'contractor',
          `is contractor ${contractors.size} of the mission, which may have at most ${MOST_CONTRACTORS}`,
        )
      : []
  })
}

export const problemAt = (place: number, field: string, message: string): PlanProblem[] => [
  {
    ...{ line: 0, column: 0, path: `tasks[${place}].${field}`, message },
    at: `/tasks/${place}/${field.replace('.', '/')}`,
  },
]
