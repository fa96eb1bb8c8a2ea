import { OWN_AGENT } from '../../../../src/kinds/task/rules/acting.ts'

/** Baton's own agent, which nobody else acts on: the server refuses it. */
export const isOwnAgent = (slug: string) => slug === OWN_AGENT

export const WHY_OWN =
  'This is Baton’s own agent. It only runs the commands that verify results, so nobody sets it up, wakes it or ends it.'

export const whyOwn = ({ slug }: { slug: string }) => (isOwnAgent(slug) ? WHY_OWN : null)
