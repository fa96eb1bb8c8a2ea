import type { Onboarding } from './onboarding.ts'

/** When Welcome is shown by itself, and what it proposes next. */

const KEPT_AS = 'baton-welcome-left:'

/** Whether this person has seen Welcome in this workspace and gone on. */
export const hasLeftWelcome = (workspace: string) => localStorage.getItem(KEPT_AS + workspace) !== null

export const keepWelcomeLeft = (workspace: string) => localStorage.setItem(KEPT_AS + workspace, 'yes')

type Cli = NonNullable<Onboarding['clis']>[number]

/** Whether an agent can be made of it now. A login that cannot be told is tried. */
export const isUsable = ({ isFound, isAllowed, login }: Pick<Cli, 'isFound' | 'isAllowed' | 'login'>) =>
  isFound && isAllowed && login !== 'out'

/** The step that Enter takes: the first one that is not done and can be. */
export function nextStep(known: Pick<Onboarding, 'clis' | 'hasAgents' | 'hasTasks' | 'demo'>): 2 | 3 | null {
  const { clis, hasAgents, hasTasks, demo } = known
  if (!hasAgents && clis?.some(isUsable)) return 2
  return hasTasks || demo ? null : 3
}
