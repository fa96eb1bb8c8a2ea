import { installFirstOf, type Packages } from './install.ts'
import type { Machine } from './machine.ts'
import type { PrivateServer } from './private-server.ts'

export interface Server {
  url: string
  stop(): Promise<void>
}

export interface Skipped {
  /** Why there is none, in one sentence. */
  skipped: string
}

/** A kind of server that tests need, with the programs it is started from. */
export interface Kind<Programs> {
  name: string
  wanted: string
  /** The variables that may name a running server. */
  variables: readonly string[]
  packages: readonly Packages[]
  locate(machine: Machine): Promise<Programs | undefined>
  startPrivate(programs: Programs): Promise<PrivateServer>
}

/** The server that the environment names; or else one of our own, installed first if need be; or else none. */
export async function obtain<P>(kind: Kind<P>, machine: Machine): Promise<Server | Skipped> {
  const given = kind.variables.map((variable) => machine.env[variable]).find(Boolean)
  if (given) return { url: given, stop: async () => undefined }

  const found = await locateOrInstall(kind, machine)
  if ('programs' in found) return kind.startPrivate(found.programs)

  const why = `there is no ${kind.wanted} here, and ${found.whyNot}`
  return { skipped: skip(machine, kind.name, why, kind.variables) }
}

/** One line says why; where all tests must run, that is an error. */
export function skip(machine: Machine, name: string, why: string, variables: readonly string[]): string {
  const skipped = `The tests on ${name} cannot run, because ${why}: install it, or set ${variables.join(' or ')}.`
  // A green run that left out a store would claim more than was tested.
  if (machine.env.CI === 'true') throw new Error(skipped)
  machine.say(`Skipped: ${skipped}`)
  return skipped
}

async function locateOrInstall<P>(
  kind: Kind<P>,
  machine: Machine,
): Promise<{ programs: P } | { whyNot: string }> {
  const installed = await kind.locate(machine)
  if (installed) return { programs: installed }
  const whyNotInstalled = await installFirstOf(kind.packages, machine)
  const nowInstalled = await kind.locate(machine)
  return nowInstalled
    ? { programs: nowInstalled }
    : { whyNot: whyNotInstalled ?? 'the package does not bring it' }
}

/**
 * The programs for one of our own, whatever the environment names, installed first if need be: for tests that kill it or set
 * it up in another way, and for benchmarks, which measure the server's process too.
 */
export async function locateOrThrow<P>(kind: Kind<P>, machine: Machine): Promise<P> {
  const found = await locateOrInstall(kind, machine)
  if ('programs' in found) return found.programs
  throw new Error(`A private ${kind.name} needs ${kind.wanted}; there is none here, and ${found.whyNot}.`)
}
