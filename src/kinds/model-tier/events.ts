import { eventsAbout, text } from '../../pure/event.ts'

const event = eventsAbout({ entity: 'workspace' }, { adapterType: text })
const model = text.nullable()

export const modelTierEvents = {
  /** Null: no model is named for tasks of that size. */
  model_tiers_changed: event.info(
    { small: model, medium: model, large: model },
    ({ adapterType, small, medium, large }) => {
      const named = Object.entries({ small, medium, large }).filter(([, one]) => one !== null)
      if (named.length === 0) return `Agents of ${adapterType} work with their own models again.`
      return `Agents of ${adapterType} get a model by the size of the task: ${named.map(([size, one]) => `${one} for ${size}`).join(', ')}.`
    },
  ),
}

type ModelTierEvents = typeof modelTierEvents
declare module '../events.ts' {
  interface Catalogue extends ModelTierEvents {}
}
