import { Refused } from '../../../pure/errors.ts'
import { MissionConfig } from '../shapes/missions.ts'

/** The settings of a mission as they were stored. Those of another version of Baton are refused, not guessed at. */
export function storedConfig(stored: unknown): MissionConfig {
  const { success, data, error } = MissionConfig.safeParse(stored)
  if (success) return data
  const where = error.issues.map(({ path }) => path.join('.')).join(', ')
  throw new Refused(
    'STORED_BY_ANOTHER_VERSION',
    `This version of Baton does not understand the stored settings of the mission (${where}). Start the version that stored them, or a newer one.`,
  )
}
