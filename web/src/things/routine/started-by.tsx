import { PageLink } from '../../links.tsx'
import type { Mission } from '../mission/progress.tsx'

/** The way from a mission to the routine that started it. */
export function StartedByRoutine({ mission }: { mission: Mission }) {
  const { routine } = mission.config
  if (!routine) return null
  const values = Object.entries(routine.variables)
  return (
    <span title={values.map(([name, value]) => `${name}: ${value}`).join('\n') || undefined}>
      started by{' '}
      <PageLink className="underline hover:text-accent" to={`/routines/${routine.id}`}>
        a routine
      </PageLink>
      {routine.scheduledFor === null ? ', by hand' : ', by its schedule'}
    </span>
  )
}
