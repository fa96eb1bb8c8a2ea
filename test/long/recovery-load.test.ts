import { test } from 'vitest'
import { workUnderKills } from '../crash/load.ts'
import { useProcesses } from '../support/recovery.ts'

const processes = useProcesses()

test(
  '100 agents do 20,000 tasks, each once, while processes of them are killed at forty moments',
  {
    timeout: 900_000,
  },
  () => workUnderKills(processes, { tasks: 20_000, kills: 40 }),
)
