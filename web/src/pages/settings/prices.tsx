import { useState } from 'react'
import { about } from '../../live/about.ts'
import { useSnapshot } from '../../live/use-snapshot.ts'
import { Button } from '../../parts/button.tsx'
import { Chip } from '../../parts/chip.tsx'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { TextInput } from '../../parts/text-input.tsx'
import { countText } from '../../parts/wording.ts'
import { api } from '../../requests/api.ts'
import { useSession } from '../../requests/session.ts'
import { useAct } from '../../things/use-act.ts'
import { EditPrice } from './edit-price.tsx'
import { inOrder, type Price, RATE_WORDS, RATES, type Rate } from './price-words.ts'

/** What models cost: the list that Baton has, and what this workspace has set instead. */
export function Prices() {
  const read = useSnapshot(['prices'], ({ signal }) => api().read('/prices', { signal }), {
    follows: about.prices,
  })
  const refusal = useSession().whyNot('admin')
  const [search, setSearch] = useState('')
  const [edited, setEdited] = useState<Price | 'new' | null>(null)
  const [reset, setReset] = useState<Price | null>(null)
  const remove = useAct(
    (price: Price) => api().delete('/prices/:model', { params: { model: price.model } }),
    (_, { model }) => `${model} costs what the list says again, or has no price.`,
    { right: 'admin' },
  )
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center gap-3">
        <p className="min-w-60 flex-1 text-row text-muted">
          Dollars for a million tokens. A new price counts for what is used from now on. What a program says
          it cost itself counts before any price.
        </p>
        <div className="w-52">
          <TextInput
            aria-label="Find a model"
            onChange={(event) => setSearch(event.target.value)}
            placeholder="Find a model"
            type="search"
            value={search}
          />
        </div>
        <Button disabledReason={refusal} icon="plus" kind="primary" onClick={() => setEdited('new')}>
          Set a price
        </Button>
      </div>
      <Loaded read={read} rowHeight={36} rows={10}>
        {({ items }) => (
          <PriceTable
            items={inOrder(items).filter(({ model }) =>
              model.toLowerCase().includes(search.trim().toLowerCase()),
            )}
            onEdit={setEdited}
            onReset={setReset}
            refusal={refusal}
          />
        )}
      </Loaded>
      {edited !== null && (
        <EditPrice onClose={() => setEdited(null)} {...(edited !== 'new' && { price: edited })} />
      )}
      {reset && (
        <ConfirmDialog
          confirm="Remove my price"
          isDangerous
          onClose={() => setReset(null)}
          onConfirm={() => remove.run(reset)}
          open
          text="The price of the list counts again for what is used from now on. Without one there, its cost is unknown."
          title={`Remove the price that you set for ${reset.model}?`}
        />
      )}
    </div>
  )
}

/** On a phone there is room for what most tokens cost. */
const onPhone = (rate: Rate) => (rate === 'cacheWrite' || rate === 'cacheWrite1h' ? 'max-sm:hidden' : '')

function PriceTable(props: {
  items: readonly Price[]
  refusal: string | null
  onEdit: (price: Price) => void
  onReset: (price: Price) => void
}) {
  const { items, refusal, onEdit, onReset } = props
  if (items.length === 0) return <p className="text-muted">No model with this name has a price.</p>
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached with the keyboard
    <div className="focus-inside overflow-x-auto" tabIndex={0}>
      <table aria-label="Prices of models" className="w-full text-row">
        <thead>
          <tr className="text-label text-muted">
            <th className="py-1.5 pr-3 text-left font-medium" scope="col">
              Model
            </th>
            {RATES.map((rate) => (
              <th
                className={`py-1.5 pl-4 text-right font-medium whitespace-nowrap ${onPhone(rate)}`}
                key={rate}
                scope="col"
              >
                {RATE_WORDS[rate].column}
              </th>
            ))}
            <th className="py-1.5 pl-4" scope="col">
              <span className="sr-only">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {items.map((price) => (
            <tr className="border-t border-line" key={price.model}>
              <th className="max-w-72 min-w-36 py-1 pr-3 text-left font-normal" scope="row">
                <span className="flex flex-wrap items-center gap-x-2">
                  <span
                    className="min-w-0 font-mono wrap-anywhere"
                    title={`${price.source}, ${price.seenOn}`}
                  >
                    {price.model}
                  </span>
                  {price.setBy === 'workspace' && <Chip hue="go">yours</Chip>}
                </span>
                {price.longContext && (
                  <span className="block text-label text-muted">
                    with more than {countText(price.longContext.fromTokens)} tokens: $
                    {price.longContext.input} in, ${price.longContext.output} out
                  </span>
                )}
              </th>
              {RATES.map((rate) => (
                <td
                  className={`py-1 pl-4 text-right whitespace-nowrap tabular-nums ${onPhone(rate)}`}
                  key={rate}
                >
                  {price[rate] === null ? (
                    <span className="text-faint" title={RATE_WORDS[rate].usual}>
                      –
                    </span>
                  ) : (
                    `$${price[rate]}`
                  )}
                </td>
              ))}
              <td className="py-1 pl-4">
                <span className="flex justify-end gap-1">
                  <Button
                    aria-label={`Set the price of ${price.model}`}
                    disabledReason={refusal}
                    kind="quiet"
                    onClick={() => onEdit(price)}
                    size="small"
                  >
                    Change
                  </Button>
                  {price.setBy === 'workspace' && (
                    <Button
                      aria-label={`Remove my price of ${price.model}`}
                      disabledReason={refusal}
                      kind="quiet"
                      onClick={() => onReset(price)}
                      size="small"
                    >
                      Reset
                    </Button>
                  )}
                </span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
