import { z } from 'zod'
import { Command, localSettings, PlainText } from './config.ts'

/** The settings shared by all adapters of agent programs. */

/** Brackets too: `opus[1m]` is a model. */
const Model = z
  .string()
  .max(200)
  .regex(/^[A-Za-z0-9._:/@[\]][A-Za-z0-9._:/@[\]-]*$/, 'is not a valid model name')

/** Who pays for its tokens; `auto`: a subscription if it has no key. */
const Billing = z.enum(['auto', 'api', 'subscription']).default('auto')

/** A name that becomes an argument: a program must not take it for a flag. */
export const Name = z
  .string()
  .max(200)
  .regex(/^[A-Za-z0-9._:/@][A-Za-z0-9._:/@-]*$/, 'must be a plain name that does not begin with a dash')

/** Flags as programs read them: case-insensitive, with or without a value after `=`. */
const normalized = (flag: string) => flag.replace(/=.*$/s, '').replaceAll('-', '').toLowerCase()

/** Whether an argument is one that the adapter itself sets: as `--flag`, `--flag=value`, `-f` or `-fvalue`. */
function isOwned(arg: string, owned: readonly string[]): boolean {
  if (arg === '--' || arg === '-' || owned.includes(arg)) return true
  if (arg.startsWith('--'))
    return owned.some((flag) => flag.startsWith('--') && normalized(flag) === normalized(arg))
  return owned.some((flag) => /^-[A-Za-z]$/.test(flag) && arg.startsWith(flag))
}

export function cliSettings(command: string, owned: readonly string[]) {
  return {
    ...localSettings,
    command: Command.default(command),
    model: Model.optional(),
    billing: Billing,
    extraArgs: z
      .array(
        PlainText.max(4_096).refine((arg) => !isOwned(arg, owned), {
          error: ({ input }) => `contains ${String(input).slice(0, 60)}, which the adapter sets itself`,
        }),
      )
      .max(100)
      .default([]),
  }
}
