import { administrationActs } from '../flow/administration.ts'
import { agentActs } from '../flow/agents-acts.ts'
import { boardActs } from '../flow/board/board.ts'
import { changeActs } from '../flow/changes.ts'
import { claimActs } from '../flow/claims-acts.ts'
import { commentActs } from '../flow/comments.ts'
import { coordinatorActs } from '../flow/coordinator.ts'
import { deadLetterActs } from '../flow/dead-letters.ts'
import { demoActs } from '../flow/demo/demo.ts'
import { dependencyActs } from '../flow/dependencies.ts'
import { eventActs } from '../flow/event-views.ts'
import { inboxActs } from '../flow/inbox/acts.ts'
import { insightActs } from '../flow/insight/queries.ts'
import { logActs } from '../flow/logs.ts'
import { missionActs, missionReads } from '../flow/missions/acts.ts'
import { childActs } from '../flow/missions/children.ts'
import { onboardingActs } from '../flow/onboarding/onboarding.ts'
import { overviewActs } from '../flow/overview/overview.ts'
import { peopleActs } from '../flow/people.ts'
import { planActs } from '../flow/plans.ts'
import { projectActs } from '../flow/projects.ts'
import { promptActs } from '../flow/prompts.ts'
import { resultActs } from '../flow/rejected-results.ts'
import { reportActs } from '../flow/reports/reports.ts'
import { routineActs } from '../flow/routines/routines.ts'
import { runLogActs } from '../flow/run-logs/acts.ts'
import { runActs } from '../flow/runs-acts.ts'
import { sessionActs } from '../flow/sessions.ts'
import { taskActs } from '../flow/tasks-acts.ts'
import { workerActs } from '../flow/workers.ts'

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
