import type { AnswerTo } from '../../../../src/client/client.ts'

/** What is here, and what a first use needs. */
export type Onboarding = AnswerTo<'GET', '/onboarding'>
export type Cli = NonNullable<Onboarding['clis']>[number]

/** When Welcome is shown automatically, and what it proposes next. */

const KEPT_AS = 'baton-welcome-left:'

/** Whether this user has seen Welcome in this workspace and left it. */
export const hasLeftWelcome = (workspace: string) => localStorage.getItem(KEPT_AS + workspace) !== null

export const keepWelcomeLeft = (workspace: string) => localStorage.setItem(KEPT_AS + workspace, 'yes')

/** Whether an agent can be created from it now. If its login is not known, it is tried. */
export const isUsable = ({ isFound, isAllowed, login }: Pick<Cli, 'isFound' | 'isAllowed' | 'login'>) =>
  isFound && isAllowed && login !== 'out'

/** The step that Enter takes: the first one that is not done and can be. */
export function nextStep(known: Pick<Onboarding, 'clis' | 'hasAgents' | 'hasTasks' | 'demo'>): 2 | 3 | null {
  const { clis, hasAgents, hasTasks, demo } = known
  if (!hasAgents && clis?.some(isUsable)) return 2
  return hasTasks || demo ? null : 3
}
