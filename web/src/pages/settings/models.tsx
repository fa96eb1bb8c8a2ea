import { useState } from 'react'
import type { AnswerTo } from '../../../../src/client/client.ts'
import { about } from '../../live/about.ts'
import { useSnapshot } from '../../live/use-snapshot.ts'
import { Button } from '../../parts/button.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { api } from '../../requests/api.ts'
import { useSession } from '../../requests/session.ts'
import { adapterName } from '../../things/agent/adapter-words.ts'
import { useAdapters } from '../../things/agent/use-adapters.ts'
import { EditModels, SIZE_WORDS, SIZES, type Tiers } from './edit-models.tsx'

type Adapter = AnswerTo<'GET', '/adapters'>['items'][number]

/** Programs whose agents have a model. Each names its models in its own way, so each has models of its own here. */
const hasModel = ({ allowed, configSchema }: Adapter) =>
  allowed && Object.hasOwn((configSchema?.properties ?? {}) as object, 'model')

/** Which models small, medium and large tasks get that name none. */
export function Models() {
  const adapters = useAdapters()
  const read = useSnapshot(['model-tiers'], ({ signal }) => api().read('/model-tiers', { signal }), {
    follows: about.modelTiers,
  })
  const [edited, setEdited] = useState<Tiers | null>(null)
  const types = adapters.data?.items.filter(hasModel).map(({ type }) => type)
  const tryAgain = () =>
    Promise.all([read, adapters].filter(({ error }) => error).map((one) => one.refetch()))
  return (
    <div className="flex flex-col gap-4">
      <p className="max-w-prose text-row text-muted">
        A task that names no model gets that of its size. Large are tasks with priority 9 or 10, or a
        complexity above 8; small are those of type boilerplate, or estimated at less than 10,000 tokens. An
        agent with tiers of its own goes by those. Where no model is named, the agent’s own works.
      </p>
      <Loaded
        read={{ data: types && read.data, error: read.error ?? adapters.error, refetch: tryAgain }}
        rowHeight={44}
        rows={4}
      >
        {({ items }) =>
          types?.length === 0 ? (
            <p className="text-muted">No program that agents may run here has a model.</p>
          ) : (
            <ul
              aria-label="Models by the size of the task"
              className="rounded-card border border-line bg-raised"
            >
              {types!.map((type) => (
                <Row
                  key={type}
                  onEdit={setEdited}
                  tiers={
                    items.find(({ adapterType }) => adapterType === type) ?? {
                      ...{ adapterType: type, small: null, medium: null, large: null },
                    }
                  }
                />
              ))}
            </ul>
          )
        }
      </Loaded>
      {edited && <EditModels onClose={() => setEdited(null)} tiers={edited} />}
    </div>
  )
}

function Row({ tiers, onEdit }: { tiers: Tiers; onEdit: (tiers: Tiers) => void }) {
  const refusal = useSession().whyNot('admin')
  const name = adapterName(tiers.adapterType)
  return (
    <li className="flex flex-wrap items-center gap-x-6 gap-y-2 px-4 py-2.5 text-row not-first:border-t not-first:border-line">
      <span className="w-36 font-medium">{name}</span>
      <dl className="grid min-w-48 flex-1 grid-cols-[repeat(auto-fit,minmax(9rem,1fr))] gap-x-4 gap-y-1">
        {SIZES.map((size) => (
          <div className="min-w-0" key={size}>
            <dt className="text-label text-muted">{SIZE_WORDS[size]}</dt>
            <dd className={tiers[size] === null ? 'text-muted' : 'font-mono wrap-anywhere'}>
              {tiers[size] ?? 'the agent’s own'}
            </dd>
          </div>
        ))}
      </dl>
      <Button
        aria-label={`Name the models of ${name}`}
        disabledReason={refusal}
        onClick={() => onEdit(tiers)}
        size="small"
      >
        Change
      </Button>
    </li>
  )
}
