import { installFirstOf, type Packages } from './install.ts'
import type { Machine } from './machine.ts'
import { type Skipped, skip } from './obtain.ts'

export interface WantedProgram {
  name: string
  wanted: string
  packages: readonly Packages[]
  locate(): string | undefined
  /** The variable that may name it. */
  variable: string
}

/** A program that tests start themselves, installed first if need be; or else why there is none. */
export async function obtainProgram(
  machine: Machine,
  { name, wanted, packages, locate, variable }: WantedProgram,
): Promise<string | Skipped> {
  const found = locate()
  if (found) return found
  const whyNot = await installFirstOf(packages, machine)
  const installed = locate()
  if (installed) return installed
  const why = `there is no ${wanted} here, and ${whyNot ?? 'the package does not bring it'}`
  return { skipped: skip(machine, name, why, [variable]) }
}
