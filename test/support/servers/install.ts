import { find, type Machine } from './machine.ts'

export interface Packages {
  names: string[]
  /** The service that is installed with it, if any. */
  service?: string
  /** It would make a PostgreSQL cluster of its own, and start it with the machine. */
  makesCluster?: boolean
}

const NO_QUESTIONS = { DEBIAN_FRONTEND: 'noninteractive' }
// At runlevel 1 a package's own script starts no service.
const NO_SERVICES = { RUNLEVEL: '1' }
const WITH_RETRIES = ['-o', 'DPkg::Lock::Timeout=120', '-o', 'Acquire::Retries=2']

let queue: Promise<unknown> = Promise.resolve()

/**
 * Installs the first of these that the archive has, and says why if none could be. One at a time: two servers are searched
 * for at once, and apt's list of packages has a lock that it does not wait for.
 */
export function installFirstOf(choices: readonly Packages[], machine: Machine): Promise<string | undefined> {
  const installed = queue.then(() => installNow(choices, machine))
  queue = installed.catch(() => undefined)
  return installed
}

async function installNow(choices: readonly Packages[], machine: Machine): Promise<string | undefined> {
  if (!machine.exists('/etc/debian_version') || !find('apt-get', machine)) {
    return 'it is installed automatically only on Debian and Ubuntu'
  }
  if (!machine.isRoot) return 'only root can install it'

  // The lists on the machine first: updating them takes longer than the installation.
  const known = await firstKnown(choices, machine)
  const first = known ? await install(known, machine) : undefined
  if (known && !first) return undefined

  const update = await machine.run('apt-get', [...WITH_RETRIES, 'update'], NO_QUESTIONS)
  const nowKnown = await firstKnown(choices, machine)
  if (nowKnown) return await install(nowKnown, machine)
  return first ?? (update.ok ? 'the archive does not have it' : complaint('apt-get update', update.output))
}

async function firstKnown(choices: readonly Packages[], machine: Machine): Promise<Packages | undefined> {
  for (const choice of choices) {
    const { output } = await machine.run('apt-cache', ['policy', choice.names[0]!])
    // An installed one is of no use to us, and its service may be in use.
    const isTaken = choice.service !== undefined && !/^ *Installed: \(none\)/m.test(output)
    if (/^ *Candidate: (?!\(none\))\S/m.test(output) && !isTaken) return choice
  }
  return undefined
}

async function install(packages: Packages, machine: Machine): Promise<string | undefined> {
  const { names, service, makesCluster } = packages
  machine.say(`Installing ${names.join(' and ')} for the tests …`)
  const failure = makesCluster
    ? await withoutCluster(machine, () => aptInstall(names, machine))
    : await aptInstall(names, machine)
  if (service) await endService(service, machine)
  return failure
}

async function aptInstall(names: readonly string[], machine: Machine): Promise<string | undefined> {
  // Never at the price of an installed package: MariaDB and MySQL displace each other.
  const args = [...WITH_RETRIES, 'install', '--yes', '--no-install-recommends', '--no-remove', ...names]
  const { ok, output } = await machine.run('apt-get', args, { ...NO_QUESTIONS, ...NO_SERVICES })
  return ok ? undefined : complaint('apt-get install', output)
}

const CLUSTER_SETTINGS = '/etc/postgresql-common/createcluster.conf'
const MAIN = 'create_main_cluster'

/** Whether a cluster "main" is made is a setting of a package that is installed before; afterwards it is restored. */
async function withoutCluster(
  machine: Machine,
  act: () => Promise<string | undefined>,
): Promise<string | undefined> {
  const failure = await aptInstall(['postgresql-common'], machine)
  if (failure) return failure
  const settings = (...args: string[]) => machine.run('pg_conftool', [CLUSTER_SETTINGS, ...args])
  const before = (await settings('--short', 'show', MAIN)).output
  const isOurs = !/^(on|off|true|false)$/.test(before)
  if (isOurs) await settings('set', MAIN, 'false')
  try {
    return await act()
  } finally {
    if (isOurs) await settings('remove', MAIN)
  }
}

// systemd starts it nevertheless, as it knows no runlevels. It was not installed before, so it is not in use.
async function endService(service: string, machine: Machine): Promise<void> {
  await machine.run('service', [service, 'stop'])
  await machine.run('update-rc.d', [service, 'disable'])
}

function complaint(command: string, output: string): string {
  const lines = output.split('\n').filter(Boolean)
  const line = lines.find((one) => one.startsWith('E: ')) ?? lines.at(-1) ?? 'it printed nothing'
  return `${command} failed: ${line.replace(/^E: /, '').replace(/[.\s]+$/, '')}`
}
