import { z } from 'zod'
import { Command, localSettings, PlainText } from './config.ts'

/** The settings that all adapters of agent programs have. */

/** Brackets too: `opus[1m]` is a model. */
const Model = z
  .string()
  .max(200)
  .regex(/^[A-Za-z0-9._:/@[\]][A-Za-z0-9._:/@[\]-]*$/, 'is no name of a model')

/** A name that becomes an argument: never one that a program could take for a flag. */
export const Name = z
  .string()
  .max(200)
  .regex(/^[A-Za-z0-9._:/@][A-Za-z0-9._:/@-]*$/, 'must be a plain name that does not begin with a dash')

/** Flags as their programs read them: in any case, with a value behind `=` or without. */
const plainly = (flag: string) => flag.replace(/=.*$/s, '').replaceAll('-', '').toLowerCase()

/** Whether an argument says what the adapter itself says: as `--flag`, `--flag=value`, `-f` or `-fvalue`. */
function isOwned(arg: string, owned: readonly string[]): boolean {
  if (arg === '--' || arg === '-' || owned.includes(arg)) return true
  if (arg.startsWith('--'))
    return owned.some((flag) => flag.startsWith('--') && plainly(flag) === plainly(arg))
  return owned.some((flag) => /^-[A-Za-z]$/.test(flag) && arg.startsWith(flag))
}

export function cliSettings(command: string, owned: readonly string[]) {
  return {
    ...localSettings,
    command: Command.default(command),
    model: Model.optional(),
    extraArgs: z
      .array(
        PlainText.max(4_096).refine((arg) => !isOwned(arg, owned), {
          error: ({ input }) => `has ${String(input).slice(0, 60)}, which the adapter itself decides`,
        }),
      )
      .max(100)
      .default([]),
  }
}
