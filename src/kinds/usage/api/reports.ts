import { endpoint } from '../../../pure/endpoint.ts'
import { IdParams } from '../../../pure/shapes.ts'
import { UsageAnswer, UsageBody } from '../shapes.ts'

export const reportUsage = endpoint({
  method: 'POST',
  path: '/tasks/:id/usage',
  summary: 'Report what the holder of a task has used so far',
  description:
    'Totals of the claim. A report of a holder whose claim is over is booked, too, until 24 hours after its end, and answered with the refusal of any of its writes.',
  tag: 'usage',
  needs: 'work',
  params: IdParams,
  body: UsageBody,
  answer: UsageAnswer,
})
