import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { METRIC_LIST, type METRICS, type MetricName } from './catalogue.ts'

/** The instruments of a node, made from the catalogue. */

const MADE = { counter: Counter, gauge: Gauge, histogram: Histogram } as const

interface Kinds<Label extends string> {
  counter: Counter<Label>
  gauge: Gauge<Label>
  histogram: Histogram<Label>
}

export type Instruments = {
  readonly [N in MetricName]: Kinds<(typeof METRICS)[N]['labels'][number]>[(typeof METRICS)[N]['type']]
}

export function instruments(): { registry: Registry; all: Instruments } {
  const registry = new Registry()
  const made = METRIC_LIST.map(([name, { type, help, labels, buckets }]) => {
    const settings = { name, help, labelNames: [...labels], registers: [registry] }
    return [name, new MADE[type]({ ...settings, ...(buckets && { buckets: [...buckets] }) })]
  })
  return { registry, all: Object.fromEntries(made) as Instruments }
}
