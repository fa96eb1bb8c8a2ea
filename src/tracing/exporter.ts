import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-base'

/** A collector that cannot be reached is said once in this time. */
const SAID_EVERY_MS = 60_000

/** Sends spans by another exporter, and says when that fails. The spans are dropped then: memory stays bounded. */
export class SayingExporter implements SpanExporter {
  readonly #sent: SpanExporter
  readonly #warn: (error: unknown, what: string) => void
  #saidAt = Number.NEGATIVE_INFINITY

  constructor(sent: SpanExporter, warn: (error: unknown, what: string) => void) {
    this.#sent = sent
    this.#warn = warn
  }

  export(spans: ReadableSpan[], done: Parameters<SpanExporter['export']>[1]): void {
    this.#sent.export(spans, (result) => {
      if (result.error && performance.now() - this.#saidAt > SAID_EVERY_MS) {
        this.#saidAt = performance.now()
        this.#warn(result.error, 'spans could not be sent to the collector and are dropped')
      }
      done(result)
    })
  }

  shutdown(): Promise<void> {
    return this.#sent.shutdown()
  }
}
