import { hash } from 'node:crypto'
import type { z } from 'zod'
import { actsOf, type Call } from '../../door/door.ts'
import type { ServerKernel } from '../../door/server-kernel.ts'
import { type Caller, granted } from '../../kernel/kernel.ts'
import { Refused } from '../../pure/errors.ts'
import type { AnswerOf } from '../../pure/shapes.ts'
import { priceName } from '../run/prices/cost.ts'
import { PRICES, type Price } from '../run/prices/table.ts'
import * as api from './api.ts'
import { OWN_SOURCE, type PriceRecord, priceTable } from './record.ts'
import type { PriceCommand, PriceRates } from './rules.ts'
import type { PriceBody, PriceView } from './shapes.ts'

type View = AnswerOf<typeof PriceView>

const view = (model: string, price: Price): View => ({
  model,
  ...price,
  setBy: price.source === OWN_SOURCE ? 'workspace' : 'list',
})

const ownView = (own: PriceRecord) => view(own.model, priceTable([own])[own.model]!)

/** Prices have no version; a hash of what is shown is their version, also of one of the list. */
const etagOf = ({ seenOn: _seenOn, ...shown }: View) =>
  `"${hash('sha256', JSON.stringify(shown)).slice(0, 16)}"`

/** The effective price, null without one. */
const effective = (model: string, own: PriceRecord | null): View | null => {
  if (own) return ownView(own)
  return Object.hasOwn(PRICES, model) ? view(model, PRICES[model]!) : null
}

const isAsRead =
  (model: string, { headers }: Pick<Call<unknown>, 'headers'>) =>
  (own: PriceRecord | null): boolean => {
    const expected = headers['if-match']
    if (expected === undefined) return true
    const now = effective(model, own)
    return now !== null && (expected === '*' || expected === etagOf(now))
  }

async function command(kernel: ServerKernel, caller: Caller, model: string, command: PriceCommand) {
  const { record } = granted(await kernel.run(caller, { on: 'price', key: model, uuid: '', command }))
  kernel.pricesChanged(caller.workspaceId)
  return record
}

type Given = z.output<typeof PriceBody>

const ratesOf = ({ longContext = null, ...rates }: Given): PriceRates => ({
  ...whole(rates),
  longContext: longContext && { fromTokens: longContext.fromTokens, ...whole(longContext) },
})

const whole = ({
  input,
  cachedInput = input,
  cacheWrite = null,
  cacheWrite1h = null,
  output,
}: Omit<Given, 'longContext'>) => ({ input, cachedInput, cacheWrite, cacheWrite1h, output })

const byName = (a: View, b: View) => (a.model < b.model ? -1 : 1)

export const priceActs = actsOf(api)({
  /** Not from the cache: an answer contains every change that its `Baton-Seq` names. */
  async listPrices({ kernel }, { caller }) {
    const table = priceTable(await kernel.store.prices.list(caller.workspaceId))
    const items = Object.entries(table).map(([model, price]) => view(model, price))
    return { items: items.sort(byName), nextCursor: null }
  },
  async readPrice({ kernel }, { params, caller, reply }) {
    const model = priceName(params.model)
    const own = await kernel.store.prices.list(caller.workspaceId)
    const shown = effective(model, own.find((one) => one.model === model) ?? null)
    if (!shown) throw new Refused('NOT_FOUND', `There is no price of "${model}".`)
    reply.header('etag', etagOf(shown))
    return shown
  },
  async setPrice({ kernel }, call) {
    const { params, body, caller, reply } = call
    const model = priceName(params.model)
    const rates = ratesOf(body)
    const record = await command(kernel, caller, model, {
      ...{ kind: 'set', rates, isAsRead: isAsRead(model, call) },
    })
    const shown = ownView(record)
    reply.header('etag', etagOf(shown))
    return shown
  },
  async removePrice({ kernel }, call) {
    const model = priceName(call.params.model)
    await command(kernel, call.caller, model, { kind: 'remove', isAsRead: isAsRead(model, call) })
  },
})
