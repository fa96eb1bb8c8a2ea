import { z } from 'zod'
import { Dollars } from '../../pure/budget.ts'
import { IsSimulated, Name, ShortText, Uuid } from '../../pure/shapes.ts'
import { PERIODS, SCOPES, UNKNOWN_PRICE } from './record.ts'

const MaxTokens = z.int().min(1).max(Number.MAX_SAFE_INTEGER)

const limits = {
  maxUsd: Dollars.nullable().optional().describe('In dollars; null: no limit in dollars'),
  maxTokens: MaxTokens.nullable()
    .optional()
    .describe('In tokens of all kinds together; null: no limit in tokens'),
}
const settings = {
  countNotional: z
    .boolean()
    .optional()
    .describe('Counts what is not paid by use, as with a subscription, in dollars, too'),
  onUnknownPrice: z
    .enum(UNKNOWN_PRICE)
    .optional()
    .describe(
      'What happens when a model without a price works under a budget in dollars: a person is asked, it stops, or it is allowed',
    ),
  isPaced: z
    .boolean()
    .optional()
    .describe('Hands out work only at the pace at which it lasts until the end of its period'),
}

export const BudgetBody = z.strictObject({
  scope: z.enum(SCOPES),
  scopeId: Name.optional().describe(
    'The id of a mission or a task, the slug of an agent or a project; not for the workspace',
  ),
  period: z
    .enum(PERIODS)
    .default('none')
    .describe('Days, weeks and months begin at midnight in the time zone of the workspace (limits.timeZone)'),
  ...limits,
  ...settings,
})

export const BudgetPatch = z.strictObject({ ...limits, ...settings })

export const BudgetMove = z.strictObject({
  to: Uuid.describe('The budget that gets it'),
  usd: Dollars.optional(),
  tokens: MaxTokens.optional(),
})

export const BudgetStop = z.strictObject({ reason: ShortText.optional() })
export const AllowModelBody = z.strictObject({ model: Name })
export const BudgetParams = z.object({ id: Uuid })

export const BudgetQuery = {
  scope: z.enum(SCOPES).optional(),
  scopeId: Name.optional(),
  state: z.enum(['open', 'warned', 'blocked']).optional().describe('Only those in this state'),
}

const Amounts = {
  maxUsd: z.string().nullable(),
  consumedUsd: z.string(),
  isSimulated: IsSimulated,
  reservedUsd: z.string(),
  remainingUsd: z.string().nullable().describe('Neither consumed nor reserved; null: no limit'),
  maxTokens: z.int().nullable(),
  consumedTokens: z.int(),
  reservedTokens: z.int(),
  remainingTokens: z.int().nullable(),
}

export const BudgetView = z.object({
  id: Uuid,
  scope: z.enum(SCOPES),
  scopeId: z.string().nullable(),
  scopeName: z
    .string()
    .nullable()
    .describe('The title of the mission or the task, the name of the agent or the project'),
  period: z.enum(PERIODS),
  periodStart: z.string(),
  periodEnd: z.string().nullable(),
  ...Amounts,
  percentUsed: z.number().describe('Of tokens or dollars, whichever is more'),
  state: z.enum(['open', 'warned', 'blocked']),
  blockedBecause: z
    .enum(['spent', 'stopped', 'unknown_price'])
    .nullable()
    .describe('Why nothing begins or goes on under it'),
  unknownModel: z.string().nullable().describe('A model without a price that has worked under it'),
  allowedModels: z.array(z.string()),
  countNotional: z.boolean(),
  onUnknownPrice: z.enum(UNKNOWN_PRICE),
  isPaced: z.boolean(),
  warnedAt: z.string().nullable(),
  exceededAt: z.string().nullable(),
  stoppedAt: z.string().nullable(),
  stoppedBy: z.string().nullable(),
  version: z.int(),
  createdAt: z.string(),
  updatedAt: z.string(),
})

export const MovedView = z.object({ from: BudgetView, to: BudgetView })
