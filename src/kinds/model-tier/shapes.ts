import { z } from 'zod'
import { Name } from '../../pure/shapes.ts'

const model = (size: string) =>
  Name.nullable().optional().describe(`For ${size} tasks; null, the default: that of the agent`)

export const ModelTiersBody = z.strictObject({
  small: model('small'),
  medium: model('medium'),
  large: model('large'),
})

export const ModelTiersView = z.object({
  adapterType: z.string(),
  small: z.string().nullable(),
  medium: z.string().nullable(),
  large: z.string().nullable(),
})

export const ModelTiersParams = z.object({
  type: Name.describe('The type of the adapter, such as claude_local'),
})
