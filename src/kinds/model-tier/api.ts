import { endpoint } from '../../pure/endpoint.ts'
import { listOf } from '../../pure/shapes.ts'
import { ModelTiersBody, ModelTiersParams, ModelTiersView } from './shapes.ts'

/** Which models small, medium and large tasks get that name none. */

const tag = 'model tiers'

export const listModelTiers = endpoint({
  method: 'GET',
  path: '/model-tiers',
  summary: 'List the models that this workspace has named for small, medium and large tasks, by adapter',
  tag,
  needs: 'read',
  answer: listOf(ModelTiersView),
})

export const setModelTiers = endpoint({
  method: 'PUT',
  path: '/model-tiers/:type',
  summary: 'Name the models that agents of an adapter get by the size of the task; without any, their own',
  description:
    'Replaces all three. An agent with `runtimeConfig.modelTiers` of its own goes by those, and the model of a task wins over both.',
  tag,
  needs: 'admin',
  params: ModelTiersParams,
  body: ModelTiersBody,
  answer: ModelTiersView,
})
