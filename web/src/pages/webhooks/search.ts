import { param } from '../../search-params.ts'

/** The parts of the address of the page: what is open beside the lists. */
export const WEBHOOKS_SEARCH = { webhook: param.text, hook: param.text }
