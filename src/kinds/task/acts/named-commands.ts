import type { Caller } from '../../../kernel/kernel.ts'
import { Refused } from '../../../pure/errors.ts'

/** A command is code on the node, so naming one needs the right to say what agents run. */
export function refuseCommands({ rights }: Pick<Caller, 'rights'>, fields: readonly string[]): void {
  if (fields.length === 0 || rights.has('configure_agents')) return
  throw new Refused(
    'FORBIDDEN',
    'Naming commands to run needs the right "configure_agents", which this key lacks.',
    { errors: fields.map((field) => ({ field, message: 'needs the right "configure_agents"' })) },
  )
}
