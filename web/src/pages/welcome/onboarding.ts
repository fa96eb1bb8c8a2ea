import type { AnswerTo } from '../../../../src/client/client.ts'

/** What is here, and what a first use needs. */
export type Onboarding = AnswerTo<'GET', '/onboarding'>
export type Cli = NonNullable<Onboarding['clis']>[number]
