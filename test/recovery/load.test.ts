import { test } from 'vitest'
import { workUnderKills } from '../crash/load.ts'
import { useProcesses } from '../support/recovery.ts'

const processes = useProcesses()

test(
  '100 agents do 200 tasks, each once, while processes of them are killed at any moment',
  {
    timeout: 180_000,
  },
  () => workUnderKills(processes, { tasks: 200, kills: 3 }),
)
