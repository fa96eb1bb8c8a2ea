import { agentActs } from '../kinds/agent/acts.ts'
import { commentActs } from '../kinds/comment/acts.ts'
import { demoActs } from '../kinds/demo/acts.ts'
import { planActs } from '../kinds/mission/acts/plans.ts'
import { missionActs, missionReads } from '../kinds/mission/acts.ts'
import { projectActs } from '../kinds/project/acts.ts'
import { reportActs } from '../kinds/report/acts.ts'
import { routineActs } from '../kinds/routine/acts.ts'
import { changeActs } from '../kinds/run/acts/changes.ts'
import { runLogActs } from '../kinds/run/acts/logs/acts.ts'
import { promptActs } from '../kinds/run/acts/prompts.ts'
import { runActs } from '../kinds/run/acts.ts'
import { workerActs } from '../kinds/session/acts/workers.ts'
import { sessionActs } from '../kinds/session/acts.ts'
import { childActs } from '../kinds/task/acts/children.ts'
import { claimActs } from '../kinds/task/acts/claim-acts.ts'
import { deadLetterActs } from '../kinds/task/acts/dead-letters.ts'
import { dependencyActs } from '../kinds/task/acts/dependencies.ts'
import { peopleActs } from '../kinds/task/acts/people.ts'
import { resultActs } from '../kinds/task/acts/rejected-results.ts'
import { taskActs } from '../kinds/task/acts.ts'
import { administrationActs } from '../kinds/workspace/acts.ts'
import { boardActs } from '../views/board/acts.ts'
import { coordinatorActs } from '../views/coordinator/acts.ts'
import { eventActs } from '../views/events/acts.ts'
import { inboxActs } from '../views/inbox/acts.ts'
import { insightActs } from '../views/insight/acts.ts'
import { logActs } from '../views/logs/acts.ts'
import { onboardingActs } from '../views/onboarding/acts.ts'
import { overviewActs } from '../views/overview/acts.ts'

/** Every endpoint with its handler, but those that are HTTP itself: sign-in, streams and health. */
export const ALL_ACTS = [
  ...taskActs,
  ...dependencyActs,
  ...claimActs,
  ...resultActs,
  ...logActs,
  ...deadLetterActs,
  ...workerActs,
  ...agentActs,
  ...runActs,
  ...runLogActs,
  ...changeActs,
  ...promptActs,
  ...projectActs,
  ...missionActs,
  ...missionReads,
  ...peopleActs,
  ...commentActs,
  ...reportActs,
  ...routineActs,
  ...childActs,
  ...boardActs,
  ...demoActs,
  ...inboxActs,
  ...insightActs,
  ...overviewActs,
  ...onboardingActs,
  ...planActs,
  ...sessionActs,
  ...eventActs,
  ...administrationActs,
  ...coordinatorActs,
]
