import { actsOf } from '../../door/door.ts'
import { granted } from '../../kernel/kernel.ts'
import { Refused } from '../../pure/errors.ts'
import type { AnswerOf } from '../../pure/shapes.ts'
import * as api from './api.ts'
import type { NamedTiers } from './record.ts'
import type { ModelTiersView } from './shapes.ts'

const view = (
  adapterType: string,
  { small, medium, large }: NamedTiers,
): AnswerOf<typeof ModelTiersView> => ({ adapterType, small, medium, large })

export const modelTierActs = actsOf(api)({
  async listModelTiers({ kernel }, { caller }) {
    const tiers = await kernel.store.modelTiers.list(caller.workspaceId)
    return { items: tiers.map((one) => view(one.adapterType, one)), nextCursor: null }
  },
  async setModelTiers({ kernel, execution }, { params: { type }, body, caller }) {
    if (!execution.hasModelSetting(type))
      throw new Refused('NOT_FOUND', `This server has no adapter "${type}" whose agents have a model.`)
    const { small = null, medium = null, large = null } = body
    const tiers = { small, medium, large }
    for (const [size, model] of Object.entries(tiers)) {
      const [fault] = model === null ? [] : execution.faultsOfModel(type, model)
      if (fault !== undefined)
        throw Refused.field('VALIDATION_FAILED', size, `is no model that ${type} takes: ${fault}`)
    }
    const command = { kind: 'set', tiers } as const
    granted(await kernel.run(caller, { on: 'modelTier', key: type, uuid: '', command }))
    return view(type, tiers)
  },
})
