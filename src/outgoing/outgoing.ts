import type { LookupFunction } from 'node:net'
import { type AddressRule, forWebhooks } from './addresses.ts'

/** How this node reaches programs outside, at addresses that people have chosen. */
export interface Outgoing {
  rule: AddressRule
  /** Resolves names instead of the system. */
  lookup?: LookupFunction | undefined
  /** Where the web app is, for links. */
  appUrl(): string
}

/** Only the public internet. */
export const USUAL_OUTGOING: Outgoing = { rule: forWebhooks([]), appUrl: () => 'http://localhost:4400' }
