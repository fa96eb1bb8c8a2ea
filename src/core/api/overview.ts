import { z } from 'zod'
import { overviewWindows } from '../overview.ts'
import { Overview } from '../shapes/overview.ts'
import { endpoint } from './endpoint.ts'

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
