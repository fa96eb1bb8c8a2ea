import { z } from 'zod'
import { THRESHOLD_CAUSES } from '../alert/causes.ts'

const LARGEST = 1_000_000_000

export const ThresholdParams = z.object({ cause: z.enum(THRESHOLD_CAUSES) })

export const ThresholdBody = z.strictObject({
  value: z.int().min(0).max(LARGEST).describe('More than this raises the alert'),
  isOn: z.boolean().default(true).describe('Whether it raises an alert at all'),
})

export const ThresholdView = z.object({
  cause: z.enum(THRESHOLD_CAUSES),
  value: z.int(),
  of: z.string().describe('What is counted'),
  isOn: z.boolean(),
  setBy: z.enum(['default', 'workspace']),
})
