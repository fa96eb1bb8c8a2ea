import { z } from 'zod'
import { endpoint } from '../../pure/endpoint.ts'
import { overviewWindows } from './periods.ts'
import { Overview } from './shapes.ts'

export const readOverview = endpoint({
  method: 'GET',
  path: '/overview',
  summary: 'Read a workspace at a glance: what waits, what runs, what ended and what it cost',
  tag: 'insight',
  needs: 'read',
  query: z.strictObject({
    window: z.enum(overviewWindows).default('24h').describe('How far charts go back'),
  }),
  answer: Overview,
})
