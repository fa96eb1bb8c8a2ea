import { z } from 'zod'
import { endpoint } from '../../pure/endpoint.ts'
import { Onboarding, TryAnswer, TryBody } from './shapes.ts'

export const readOnboarding = endpoint({
  method: 'GET',
  path: '/onboarding',
  summary: 'Read what a first use needs: the database, the agent programs on this node, what exists',
  description: 'Programs are looked for only for keys with the right "configure_agents".',
  tag: 'runs',
  needs: 'read',
  answer: Onboarding,
})

export const tryAdapter = endpoint({
  method: 'POST',
  path: '/adapters/:type/test',
  summary: 'Test whether an agent with these settings could run on this node, before they are saved',
  description:
    'Settings that could not be saved are refused in the same words; with "all" they are told with all other problems.',
  tag: 'runs',
  needs: 'configure_agents',
  params: z.object({ type: z.string().regex(/^[a-z][a-z0-9_]{0,62}$/) }),
  body: TryBody,
  bodyIsOptional: true,
  answer: TryAnswer,
})
